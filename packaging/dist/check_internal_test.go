package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// written is a release with programs that are no programs; change may spoil the files of an archive.
func written(t *testing.T, change func(t target, files []file) []file) (dir string) {
	t.Helper()
	r := &release{out: t.TempDir(), version: "v1", time: time.Unix(1, 0)}
	for _, to := range targets {
		var files []file
		for name, mode := range promised(to) {
			files = append(files, file{name, []byte("content of " + name), mode})
		}
		slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
		if change != nil {
			files = change(to, files)
		}
		name := "verifier_v1_" + to.system + "_" + to.arch
		err := errors.Join(r.archive(name, to, files), os.WriteFile(filepath.Join(r.out, name+".sbom.txt"), []byte("modules"), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := sums(r.out); err != nil {
		t.Fatal(err)
	}
	return r.out
}

func anyProgram(target, string, []byte) error { return nil }

func TestARightReleaseIsRight(t *testing.T) {
	seen := map[string]bool{}
	err := check(written(t, nil), "v1", func(to target, name string, program []byte) error {
		seen[to.system+"/"+to.arch+" "+name] = true
		if string(program) != "content of "+name {
			t.Errorf("%s is %q", name, program)
		}
		return nil
	})
	if err != nil || len(seen) != 2*len(targets) || !seen["windows/amd64 verifier-hook.exe"] {
		t.Errorf("%v, seen %v", err, seen)
	}
}

func TestAWrongReleaseIsRefused(t *testing.T) {
	only := func(system string, change func(files []file) []file) func(target, []file) []file {
		return func(to target, files []file) []file {
			if to.system == system {
				return change(files)
			}
			return files
		}
	}
	for want, change := range map[string]func(target, []file) []file{
		"lacks CHANGELOG.md, LICENSE": only("linux", func(f []file) []file { return f[2:] }),
		"lacks verifier.service": only("windows", func(f []file) []file {
			return slices.DeleteFunc(f, func(f file) bool { return f.name == "verifier.service" })
		}),
		"holds": only("darwin", func(f []file) []file { return append(f, file{"owner.token", []byte("x"), 0o600}) }),
		"twice": only("darwin", func(f []file) []file { return append(f, f[0]) }),
		"mode 644": only("linux", func(f []file) []file {
			f[slices.IndexFunc(f, func(f file) bool { return f.name == "verifier" })].mode = 0o644
			return f
		}),
		"is empty": only("windows", func(f []file) []file { f[0].data = nil; return f }),
	} {
		if err := check(written(t, change), "v1", anyProgram); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q, got %v", want, err)
		}
	}
	wrong := errors.New("a program for another machine")
	if err := check(written(t, nil), "v1", func(target, string, []byte) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

func TestWrongSumsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"another archive": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "verifier_v1_linux_amd64.sbom.txt"), []byte("other"), 0o600)
		},
		"one is gone":  func(dir string) error { return os.Remove(filepath.Join(dir, "verifier_v1_windows_amd64.zip")) },
		"one too many": func(dir string) error { return os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600) },
		"a line is gone": func(dir string) error {
			path := filepath.Join(dir, "SHA256SUMS")
			text, err := os.ReadFile(path)
			_, rest, _ := bytes.Cut(text, []byte("\n"))
			return errors.Join(err, os.WriteFile(path, rest, 0o600))
		},
	} {
		dir := written(t, nil)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if err := check(dir, "v1", anyProgram); err == nil {
			t.Errorf("%s: it passes", name)
		}
	}
}

// The test itself is a Go program, but not one of ours.
func TestAProgramThatIsAnotherIsRefused(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	here := target{runtime.GOOS, runtime.GOARCH}
	if err := inspectProgram(here, "verifier", self); err == nil || !strings.Contains(err.Error(), "packaging/dist") {
		t.Errorf("got %v", err)
	}
	if err := inspectProgram(here, "verifier", []byte("#!/bin/sh\n")); err == nil {
		t.Error("a script passes for our program")
	}
}
