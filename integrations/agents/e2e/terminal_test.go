//go:build linux

package e2e_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openclaw-verifier/verifier/integrations/agents/e2e/scripted"
)

// screen is a terminal that the agent runs in.
type screen struct {
	s    *scene
	pty  *os.File
	mu   sync.Mutex
	text []byte // what it shows and has shown
	end  func()
}

// open starts the agent in a terminal, as a person does.
func (s *scene) open(args ...string) *screen {
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		s.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		s.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	if err != nil {
		s.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	c := s.within(ctx, append([]string{filepath.Join(s.cache, s.program)}, args...)...)
	c.Env = append(c.Env, "TERM=xterm-256color")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	tty.Close() // the agent has it
	x := &screen{s: s, pty: pty}
	x.end = sync.OnceFunc(func() { cancel(); c.Wait(); pty.Close() }) //nolint:errcheck // it is over
	s.Cleanup(x.end)
	go x.read()
	return x
}

func (x *screen) read() {
	part := make([]byte, 1<<16)
	for {
		n, err := x.pty.Read(part)
		x.mu.Lock()
		x.text = append(x.text, part[:n]...)
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var moves = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[a-zA-Z]`)

// shows reports whether a text was shown since the last look, without blanks.
func (x *screen) shows(text string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	plain := strings.ReplaceAll(string(moves.ReplaceAll(x.text, nil)), " ", "")
	return strings.Contains(plain, strings.ReplaceAll(text, " ", ""))
}

// wait waits for a text on the screen, and forgets what was shown before.
func (x *screen) wait(text string) {
	x.s.Helper()
	x.s.wait(text+" on the screen", func() bool { return x.shows(text) })
	x.forget()
}

func (x *screen) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.text = nil
}

// keys types. The agent takes what comes at once for pasted text, so that there is a pause after each.
func (x *screen) keys(all ...string) {
	for _, k := range all {
		if _, err := x.pty.WriteString(k); err != nil {
			x.s.Fatal(err)
		}
		<-time.After(700 * time.Millisecond)
	}
}

// until presses a key, again if need be, until something has come of it: a busy machine may show a dialog before it reads keys.
func (x *screen) until(key, what string, done func() bool) {
	x.s.Helper()
	for range 10 {
		x.keys(key)
		for range 5 {
			if done() {
				return
			}
			<-time.After(time.Second)
		}
	}
	x.s.Fatalf("%s did not come", what)
}

const (
	enter  = "\r"
	escape = "\x1b"
	dialog = "Do you want to proceed?"
)

// terminal is a person who uses Claude Code at a terminal: the first answer counts, there or on the phone.
func (s *scene) terminal() {
	s.put(".claude.json", `{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":["x"],"rejected":[]},"projects":{"`+s.work+`":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`)
	fetch := s.shell("curl -s " + s.url + "/page")
	made := func() bool { _, err := os.Stat(filepath.Join(s.work, "ran")); return err == nil }
	waits := func() bool { return s.ref() != "" }
	begin := func() *screen {
		os.Remove(filepath.Join(s.work, "ran")) //nolint:errcheck // there is none
		s.model.Play(fetch, s.touch())
		x := s.open()
		x.wait("❯")
		x.keys("", "", "go", enter)
		x.wait(dialog)
		s.wait("the question on the phone", waits)
		return x
	}

	closed := func() bool { return !waits() }
	x := begin()
	x.until(enter, "the file", made)
	s.wait("the end of the question", closed)
	if !strings.Contains(s.record(), "it was allowed at the agent's own terminal") {
		s.Errorf("the record does not say that the call was allowed at the terminal")
	}
	x.keys("/compact", enter) // what it has read is in the summary
	x.wait("ompacted")
	s.model.Play(s.touch())
	x.keys("go", enter)
	x.wait(dialog)
	x.until(escape, "the end of the question", closed)
	os.Remove(filepath.Join(s.work, "ran")) //nolint:errcheck // it is there
	x.keys("/clear", enter)                 // a new conversation
	x.keys("", "go", enter)
	s.wait("the file", made)
	x.end()

	x = begin()
	x.until(escape, "the end of the question", closed)
	if !strings.Contains(s.record(), "it was answered at the agent's own terminal") || made() {
		s.Errorf("the record does not say that the question was answered at the terminal, or it ran")
	}
	x.end()

	begin()
	s.run(s.verifier("approve", s.ref()))
	s.wait("the file, after a yes on the phone", made)

	x = begin()
	s.run(s.verifier("deny", s.ref()))
	x.wait("done")
	if made() {
		s.Errorf("it ran after a no on the phone")
	}
	x.end()
	s.notified(fetch)
}

// geminiTerminal is a person who uses Gemini CLI at a terminal: before a command it asks there, and does not wait for the phone.
func (s *scene) geminiTerminal() {
	fetch := s.shell("curl -s " + s.url + "/page")
	made := func() bool { _, err := os.Stat(filepath.Join(s.work, "ran")); return err == nil }
	closed := func() bool { return s.ref() == "" }
	begin := func() *screen {
		os.Remove(filepath.Join(s.work, "ran")) //nolint:errcheck // there is none
		s.model.Play(fetch, s.touch())
		x := s.open("--yolo") // which asks about nothing by itself
		x.wait("Type your message")
		x.keys("", "", "go", enter)
		x.wait("Allow execution")
		s.wait("the question on the phone", func() bool { return !closed() })
		return x
	}
	x := begin()
	x.until(enter, "the file", made)
	s.wait("the end of the question", closed)
	if !strings.Contains(s.record(), "it was allowed at the agent's own terminal") {
		s.Errorf("the record does not say that the call was allowed at the terminal")
	}
	x.end()
	x = begin()
	x.keys(escape)
	x.wait("Type your message")
	if made() {
		s.Errorf("it ran after a no at the terminal")
	}
	x.end()
}

// colours is what a terminal answers to opencode, which asks for them at its start.
const colours = "\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\\x1b]4;0;rgb:0000/0000/0000\x1b\\\x1b[1;1R\x1b[?62;c"

// opencodeTerminal is a person who uses opencode at a terminal: our plugin asks there and on the phone at once, and the first answer counts.
func (s *scene) opencodeTerminal() {
	fetch := s.shell("curl -s " + s.url + "/page")
	made := func() bool { _, err := os.Stat(filepath.Join(s.work, "ran")); return err == nil }
	closed := func() bool { return s.ref() == "" }
	begin := func() *screen {
		os.Remove(filepath.Join(s.work, "ran")) //nolint:errcheck // there is none
		s.model.Play(fetch, s.touch())
		x := s.open()
		x.wait("]4;0;?")
		x.keys(colours)
		x.wait("Ask anything")
		x.keys("", "", "go", enter)
		x.wait("The verifier asks: allow bash")
		s.wait("the question on the phone", func() bool { return !closed() })
		return x
	}
	x := begin()
	x.keys("\x1b[B") // down, to Allow once
	x.until(enter, "the file", made)
	s.wait("the end of the question", closed)
	if !strings.Contains(s.record(), "it was allowed at the agent's own terminal") {
		s.Errorf("the record does not say that the call was allowed at the terminal")
	}
	x.end()

	x = begin()
	x.until(enter, "the end of the question", closed) // Deny comes first
	s.wait("the reason for the model", func() bool { return strings.Contains(s.model.Heard(), "said no at the terminal") })
	if !strings.Contains(s.record(), "it was answered at the agent's own terminal") || made() {
		s.Errorf("the record does not say that the question was answered at the terminal, or it ran")
	}
	x.end()

	x = begin()
	s.run(s.verifier("approve", s.ref()))
	s.wait("the file, after a yes on the phone", made)
	x.end()

	x = begin()
	s.run(s.verifier("deny", s.ref()))
	x.wait("done")
	if made() {
		s.Errorf("it ran after a no on the phone")
	}
	x.end()
}

// notified lets a sub-agent end in the background: Claude Code says so to itself as if its user had typed it.
func (s *scene) notified(fetch scripted.Step) {
	task := scripted.Step{Tool: s.task.Tool, Input: maps.Clone(s.task.Input)}
	task.Input["run_in_background"] = true
	s.model.PlayBelow(fetch)
	defer s.model.PlayBelow()
	s.model.Play(task)
	x := s.open()
	x.wait("❯")
	x.keys("", "", "go", enter)
	s.wait("the notification", func() bool { return strings.Contains(s.model.Heard(), "<task-notification>") })
	words, err := filepath.Glob(filepath.Join(s.state, "hook/sessions/*/words"))
	if err != nil || len(words) == 0 {
		s.Fatalf("the hook has noted no words of the user: %v", err)
	}
	for _, w := range words {
		if text, err := os.ReadFile(w); err != nil || strings.Contains(string(text), "task-notification") {
			s.Errorf("what a sub-agent reports counts as the user's words: %s, %v", text, err)
		}
	}
}
