package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// release is the version by which a build was tagged, set by the linker
// (-X main.release=v1.2.3) in `make build` and `make dist`. Empty: what Go found
// in the repository.
var release string

// VersionCmd prints what was built.
type VersionCmd struct{}

// versionFlag is for those who try --version first.
type versionFlag bool

// BeforeApply prints, and ends the program.
func (versionFlag) BeforeApply(a *app, k *kong.Kong) error {
	err := (&VersionCmd{}).Run(a)
	k.Exit(exitOK)
	return err
}

// HelpCmd is for those who try help first.
type HelpCmd struct {
	Command []string `arg:"" optional:""`
}

// Run prints the help of a command.
func (c *HelpCmd) Run(a *app) error {
	if code := a.run(append(c.Command, "--help")); code != exitOK {
		return exit(code)
	}
	return nil
}

// build is what a binary knows of itself.
type build struct {
	Version string
	Commit  string // empty when it was not built from a repository
	Date    string // of the commit; empty likewise
	Go      string
}

func version() build {
	b := build{Version: cmp.Or(release, "(devel)"), Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(release, info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))] + b.Commit
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Commit += " modified"
		case s.Key == "vcs.time":
			b.Date, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return b
}

// Run prints.
func (*VersionCmd) Run(a *app) error {
	b := version()
	a.printf("verifier %s\n", b.Version)
	if b.Commit != "" {
		a.printf("commit %s\n", b.Commit)
	}
	a.printf("%s %s/%s\n", b.Go, runtime.GOOS, runtime.GOARCH)
	return nil
}
