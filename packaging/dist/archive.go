package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is one file of an archive.
type file struct {
	name string // with slashes
	data []byte
	mode fs.FileMode
}

// archive writes a zip for Windows and a tar.gz for the others. All files
// stand in one directory, so that unpacking makes no mess.
func (r *release) archive(name string, t target, files []file) error {
	var out bytes.Buffer
	var err error
	if t.system == "windows" {
		name, err = name+".zip", writeZip(&out, name, files, r.time)
	} else {
		name, err = name+".tar.gz", writeTar(&out, name, files, r.time)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name), out.Bytes(), 0o644) //nolint:gosec // a release is for everybody
}

// writeTar leaves out owners and every time but one: they are the machine's.
func writeTar(w io.Writer, dir string, files []file, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		header := &tar.Header{Name: dir + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(w io.Writer, dir string, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: dir + "/" + f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		to, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// sums writes SHA256SUMS, as `sha256sum -c` reads it.
func sums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(out.String()), 0o644) //nolint:gosec // a release is for everybody
}
