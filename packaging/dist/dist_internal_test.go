package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

var some = []file{{"verifier", []byte("program"), 0o755}, {"docs/page.txt", []byte("text"), 0o644}}

func TestArchivesAreTheSameBytesEachTime(t *testing.T) {
	at := time.Date(2026, 10, 3, 14, 2, 12, 0, time.UTC)
	for name, write := range map[string]func(io.Writer, string, []file, time.Time) error{"tar": writeTar, "zip": writeZip} {
		var first, second bytes.Buffer
		if err := write(&first, "d", some, at); err != nil {
			t.Fatal(err)
		}
		if err := write(&second, "d", some, at.In(time.FixedZone("elsewhere", 7200)).UTC()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s differs from one time to the next", name)
		}
	}
}

func TestTarKeepsNamesModesAndNothingOfThisMachine(t *testing.T) {
	var out bytes.Buffer
	if err := writeTar(&out, "verifier_v1", some, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for _, want := range some {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != "verifier_v1/"+want.name || h.FileInfo().Mode() != want.mode || h.Uid != 0 || h.Uname != "" || h.ModTime.Unix() != 1 {
			t.Errorf("%s has %+v", want.name, h)
		}
	}
}

func TestSumsAreWhatSha256sumReads(t *testing.T) {
	dir := t.TempDir()
	for _, f := range some {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f.name)), f.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sums(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1  page.txt\n"
	if !strings.HasPrefix(string(text), want) || strings.Contains(string(text), "SHA256SUMS") {
		t.Errorf("got\n%swant it to begin with\n%s", text, want)
	}
	if tool, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.CommandContext(t.Context(), tool, "-c", "SHA256SUMS")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// The example loads once its two variables are set, and holds no secret.
func TestExampleLoads(t *testing.T) {
	text, err := os.ReadFile("../../cmd/verifier/verifier.yaml.in")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"VERIFIER_SECRET": "5f0c3b1d9a7e4c2288b6d1f3e0a9c7b4", "VERIFIER_OWNER_TOKEN": "c41e7a90b2d84f6f93a5d7e1084b6c2f"}
	c, _, err := config.Parse("example", []byte(example(string(text))), func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Webhook.Secret.Reveal() != env["VERIFIER_SECRET"] || c.OwnerToken.Reveal() != env["VERIFIER_OWNER_TOKEN"] {
		t.Error("the example does not take its secrets from the environment")
	}
}
