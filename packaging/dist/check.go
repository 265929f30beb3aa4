package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// check opens what was written, as a person who downloads it would: every archive with its names and modes, the programs in it, and
// the checksums. inspect looks at a program.
func check(dir, version string, inspect func(t target, name string, program []byte) error) error {
	var wrong []error
	written := map[string]bool{}
	for _, t := range targets {
		name := fmt.Sprintf("verifier_%s_%s_%s", version, t.system, t.arch)
		archive := name + ".tar.gz"
		if t.system == "windows" {
			archive = name + ".zip"
		}
		written[archive], written[name+".sbom.txt"] = true, true
		files, err := unpack(filepath.Join(dir, archive))
		if err == nil {
			err = checkFiles(t, name, files, inspect)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", archive, err))
		}
	}
	return errors.Join(append(wrong, checkSums(dir, written))...)
}

// promised are the files of an archive as docs/installation.md lists them, with their modes.
func promised(t target) map[string]fs.FileMode {
	end := ""
	if t.system == "windows" {
		end = ".exe"
	}
	return map[string]fs.FileMode{
		"verifier" + end: 0o755, "verifier-hook" + end: 0o755,
		"LICENSE": 0o644, "README.md": 0o644, "CHANGELOG.md": 0o644,
		"verifier.service": 0o644, "verifier.example.yaml": 0o644,
	}
}

func checkFiles(t target, dir string, files []file, inspect func(t target, name string, program []byte) error) error {
	left := promised(t)
	for _, f := range files {
		name, inside := strings.CutPrefix(f.name, dir+"/")
		mode, known := left[name]
		switch {
		case !inside || !known:
			return fmt.Errorf("it holds %s, or holds it twice", f.name)
		case f.mode != mode:
			return fmt.Errorf("%s has mode %o, want %o", f.name, f.mode, mode)
		case len(f.data) == 0:
			return fmt.Errorf("%s is empty", f.name)
		}
		if mode == 0o755 {
			if err := inspect(t, name, f.data); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		delete(left, name)
	}
	if len(left) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	return nil
}

// inspectProgram reads in a program what Go wrote there: what it is, for which platform, and that it is static.
func inspectProgram(t target, name string, program []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	want := "github.com/openclaw-verifier/verifier/cmd/" + strings.TrimSuffix(name, ".exe")
	if info.Path != want || got["GOOS"] != t.system || got["GOARCH"] != t.arch || got["CGO_ENABLED"] != "0" {
		return fmt.Errorf("it is %s for %s/%s with CGO_ENABLED=%s", info.Path, got["GOOS"], got["GOARCH"], got["CGO_ENABLED"])
	}
	return nil
}

// checkSums wants a line with the right sum for each file that was written, and nothing else in the directory.
func checkSums(dir string, written map[string]bool) error {
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return err
	}
	left := maps.Clone(written)
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !left[name] {
			return fmt.Errorf("SHA256SUMS names %q, or names it twice", name)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if sum != fmt.Sprintf("%x", sha256.Sum256(data)) {
			return fmt.Errorf("SHA256SUMS is wrong about %s", name)
		}
		delete(left, name)
	}
	if len(left) > 0 {
		return fmt.Errorf("SHA256SUMS lacks %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) != len(written)+1 {
		err = fmt.Errorf("the directory holds %d files, want %d", len(entries), len(written)+1)
	}
	return err
}

// unpack reads all files of an archive.
func unpack(path string) ([]file, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".zip") {
		return unzip(raw)
	}
	return untar(raw)
}

func untar(raw []byte) (out []file, err error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, z.Close()
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		out = append(out, file{h.Name, data, h.FileInfo().Mode()})
	}
}

func unzip(raw []byte) (out []file, err error) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		out = append(out, file{f.Name, data, f.Mode()})
	}
	return out, nil
}
