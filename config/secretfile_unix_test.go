//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
)

// A secret's file that never ends, or never begins, stops nothing.
func TestH79ASecretsFileThatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "loop")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(link, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, link, "/dev/zero", "/dev/tty", filepath.Join(dir, "none")} {
		done := make(chan error, 1)
		go func() {
			_, _, err := config.Parse("verifier.yaml", []byte("ownerToken: file:"+path+"\n"), func(string) (string, bool) { return "", false }, nil)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: taken", path)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: it hangs", path)
		}
	}
}
