// Dist builds what a release is made of, into dist/: for each platform an
// archive with a static binary and what belongs beside it, and the list of
// modules inside that binary; and SHA256SUMS over all of them.
//
// The same commit and Go version give the same bytes on any machine: paths are
// trimmed, times are the commit's, and the archives are written here and not by
// the tar that happens to be installed. It fails for a binary over the size
// limit. At the end it opens every archive that it wrote: see [check]. It
// uploads and signs nothing.
//
// Run it from the root of the repository: `make dist`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// target is a platform that we release for.
type target struct{ system, arch string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, // for the commands that talk to a server; see docs/installation.md
}

// maxBinary is what a stripped binary may weigh. A larger one still gets its archive, so that one sees by how much; the run fails.
const maxBinary = 45 << 20

// release is one run.
type release struct {
	ctx     context.Context
	out     string    // directory
	version string    // of the archives' names: a tag, or what git calls the commit
	tag     string    // put into the binary; empty: Go takes it from the repository
	time    time.Time // of every file in the archives
	missed  bool      // a binary is larger than it should be
}

func main() {
	out := flag.String("out", "dist", "where to write; the directory is emptied first")
	tag := flag.String("version", "", "version to put into the binaries (default: the commit's tag, if it has one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *out, *tag)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, tag string) error {
	r, err := prepare(ctx, out, tag)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "verifier-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // the system empties it
	beside, err := common()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := r.build(work, t, beside); err != nil {
			return fmt.Errorf("%s/%s: %w", t.system, t.arch, err)
		}
	}
	if err := sums(r.out); err != nil {
		return err
	}
	if err := check(r.out, r.version, inspectProgram); err != nil {
		return err
	}
	fmt.Println("dist: every archive was opened: names, modes, both programs and checksums are right")
	if r.missed {
		return errors.New("all archives are written, but a binary missed its size: what was linked into it?")
	}
	return nil
}

// prepare asks git what is being released, and empties the directory.
func prepare(ctx context.Context, out, tag string) (*release, error) {
	r := &release{ctx: ctx, out: out, tag: tag}
	described, err := r.command(nil, "git", "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return nil, err
	}
	if r.version = described; tag != "" {
		r.version = tag
	}
	if strings.HasSuffix(described, "-dirty") {
		fmt.Println("dist: the tree has changes, so others can't build the same")
	}
	stamp, err := r.command(nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, err
	}
	r.time = time.Unix(seconds, 0).UTC()
	return r, errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)) //nolint:gosec // a release is for everybody
}

// build makes one platform's archive and list of modules.
func (r *release) build(work string, t target, common []file) error {
	name := fmt.Sprintf("verifier_%s_%s_%s", r.version, t.system, t.arch)
	binary := filepath.Join(work, name, "verifier")
	if t.system == "windows" {
		binary += ".exe"
	}
	if err := r.compile(binary, t, "./cmd/verifier"); err != nil {
		return err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	modules, err := r.modules(binary)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".sbom.txt"), []byte(modules), 0o644); err != nil { //nolint:gosec // as above
		return err
	}
	hook, err := r.hook(binary, t)
	if err != nil {
		return err
	}
	files := append([]file{{filepath.Base(binary), data, 0o755}, hook}, common...)
	verdict := ""
	if len(data) > maxBinary {
		r.missed, verdict = true, fmt.Sprintf(", MISSED: at most %d", maxBinary>>20)
	}
	fmt.Printf("dist: %s: binary %.1f MB%s\n", name, float64(len(data))/(1<<20), verdict)
	return r.archive(name, t, files)
}

// hook is the small program beside the binary, which coding agents run.
func (r *release) hook(binary string, t target) (file, error) {
	path := strings.Replace(filepath.Base(binary), "verifier", "verifier-hook", 1)
	path = filepath.Join(filepath.Dir(binary), path)
	if err := r.compile(path, t, "./cmd/verifier-hook"); err != nil {
		return file{}, err
	}
	data, err := os.ReadFile(path)
	return file{filepath.Base(path), data, 0o755}, err
}

// compile has the flags of `make build`.
func (r *release) compile(to string, t target, program string) error {
	link := "-s -w"
	if r.tag != "" {
		link += " -X main.release=" + r.tag
	}
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOOS=" + t.system, "GOARCH=" + t.arch}
	_, err := r.command(env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", link, "-o", to, program)
	return err
}

// modules is what the binary itself says it was built from. The first line
// would name a directory of this machine.
func (r *release) modules(binary string) (string, error) {
	text, err := r.command(nil, "go", "version", "-m", binary)
	return strings.Replace(text, binary, filepath.Base(binary), 1) + "\n", err
}

// command runs a program and returns what it prints.
func (r *release) command(env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.ctx, name, args...) //nolint:gosec // git, go and our own binary
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
