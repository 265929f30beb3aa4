//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// newcomer is a person with an empty home directory. They type commands, each at a terminal of its own, and see what it shows.
type newcomer struct {
	t       *testing.T
	home    string
	bin     string // programs of theirs, such as stand-ins
	chat    *telegramtest.Server
	screens []*screen
}

// screen is one terminal with a command in it.
type screen struct {
	t        *testing.T
	command  string
	shown    *output
	keyboard io.Writer
	ended    chan struct{}
	run      *exec.Cmd
}

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	n := &newcomer{t: t, home: t.TempDir(), bin: t.TempDir()}
	n.chat = telegramtest.New(t, botToken)
	return n
}

// ownMachine are the only differences to a machine of one's own: the usual port may be taken, and Telegram is a stand-in.
const ownMachine = `verifier() {
	case $1 in
	serve) command verifier "$@" --listen 127.0.0.1:0 ;;
	setup) command verifier "$@" --api-url %[1]s ;;
	*) if [ -s ~/.config/verifier/verifier.yaml ] && [ -s ~/.local/state/verifier/address ]; then
		export VERIFIER_URL="http://$(cat ~/.local/state/verifier/address)"
	fi; command verifier "$@" ;;
	esac
}
%[2]s`

// types starts a command at a terminal of its own.
func (n *newcomer) types(command string) *screen {
	n.t.Helper()
	master, tty := openTerminal(n.t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 200}); err != nil {
		n.t.Fatal(err)
	}
	s := &screen{t: n.t, command: command, shown: &output{}, keyboard: master, ended: make(chan struct{})}
	s.run = exec.CommandContext(context.WithoutCancel(n.t.Context()), "sh", "-c", fmt.Sprintf(ownMachine, n.chat.URL(), command))
	s.run.Dir, s.run.Stdin, s.run.Stdout, s.run.Stderr = n.home, tty, tty, tty
	s.run.Env = []string{"HOME=" + n.home, "PATH=" + n.bin + ":" + os.Getenv("PATH"), "TERM=xterm", "GORACE=" + os.Getenv("GORACE")}
	s.run.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.run.Start(); err != nil {
		n.t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		n.t.Fatal(err)
	}
	n.screens = append(n.screens, s)
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(s.shown, master) // it ends with an error, once no program has the terminal
	}()
	n.t.Cleanup(func() {
		s.presses("\x03")
		s.closes()
	})
	return s
}

func (s *screen) String() string { return strings.ReplaceAll(s.shown.String(), "\r", "") }

// sees waits until the screen shows what the pattern says, and returns the first group of it, or all.
func (s *screen) sees(pattern string) string {
	s.t.Helper()
	found, want := []string(nil), regexp.MustCompile(pattern)
	patiently(s.t, func() bool { found = want.FindStringSubmatch(s.String()); return found != nil }, func() string {
		return fmt.Sprintf("`%s` does not show %s but\n%s", s.command, pattern, s)
	})
	return found[len(found)-1]
}

// patiently waits for as long as a busy machine may need.
func patiently(t *testing.T, is func() bool, wrong func() string) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatal(wrong())
		case <-tick.C:
		}
	}
}

func (s *screen) presses(keys string) { _, _ = io.WriteString(s.keyboard, keys) } // a command that has ended reads none

// closes waits until the command has ended.
func (s *screen) closes() {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Errorf("`%s` does not end:\n%s", s.command, s)
		_ = s.run.Process.Kill()
	}
	_ = s.run.Wait()
}

// ends waits until the command has ended well.
func (s *screen) ends() string {
	s.t.Helper()
	s.closes()
	if code := s.run.ProcessState.ExitCode(); code != exitOK {
		s.t.Fatalf("`%s` ends with %d:\n%s", s.command, code, s)
	}
	return s.String()
}

// allows answers yes to the question that `watch` shows.
func (s *screen) allows() {
	s.t.Helper()
	s.sees("y allow once")
	s.pressesUntil("y", "approved once by")
}

// pressesUntil presses a key until it counts: for a moment after a question came up none does.
func (s *screen) pressesUntil(key, text string) {
	s.t.Helper()
	patiently(s.t, func() bool {
		if strings.Contains(s.String(), text) {
			return true
		}
		s.presses(key)
		return false
	}, func() string { return "the key does not count:\n" + s.String() })
}

// program puts a program of theirs on the PATH.
func (n *newcomer) program(name, script string) {
	n.t.Helper()
	if err := os.WriteFile(filepath.Join(n.bin, name), []byte(script), 0o700); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newcomer) write(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newcomer) read(path string) string {
	n.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}
