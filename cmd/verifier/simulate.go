package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/replay"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

// SimulateCmd plays recorded sessions against a policy.
type SimulateCmd struct {
	configFlag
	includeFlag
	Trace    []string `help:"Recorded sessions, or a record of this program; plain or gzip." required:"" placeholder:"FILE" sep:"none"`
	More     []string `arg:"" optional:"" name:"file" help:"More files of sessions."`
	LeaveOut bool     `name:"leave-one-out" help:"Play once for each tool that the config labels, each time without its label."`
	JSON     bool     `help:"Print the numbers as JSON."`
}

// Run simulates.
func (c *SimulateCmd) Run(a *app) error {
	cfg, err := c.policy(a)
	if err != nil {
		return err
	}
	var sessions []replay.Session
	for _, name := range append(c.Trace, c.More...) {
		if err := readFrom(name, func(f io.Reader) error {
			read, err := replay.Read(f)
			sessions = append(sessions, read...)
			return err
		}); err != nil {
			return err
		}
	}
	if len(sessions) == 0 {
		return &failure{
			"there is no session in " + strings.Join(append(c.Trace, c.More...), ", "),
			"give files with one JSON object a line",
		}
	}
	if c.LeaveOut {
		return c.leaveOneOut(a, cfg, sessions)
	}
	report, err := c.play(a, cfg, sessions)
	if err != nil {
		return err
	}
	if err := c.print(a, &report); err != nil {
		return err
	}
	return leaked(report.InjectedPassed)
}

// leaked is the command's answer: whether anything passed that should not have.
func leaked(calls int) error {
	if calls > 0 {
		return exit(exitNo)
	}
	return nil
}

func (c *SimulateCmd) policy(a *app) (policy.Config, error) {
	cfg, err := c.quietConfig(a)
	if err != nil {
		return policy.Config{}, err
	}
	if err := c.add(cfg); err != nil {
		return policy.Config{}, err
	}
	return cfg.Policy, nil
}

// readFrom lets one file be read, and names it in what is wrong with it.
func readFrom(name string, read func(io.Reader) error) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// play plays the sessions, on a store that lives no longer than this.
func (c *SimulateCmd) play(a *app, cfg policy.Config, sessions []replay.Session) (report replay.Report, err error) {
	rules, _, err := policy.New(cfg)
	if err != nil {
		return report, err
	}
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		return report, err
	}
	bar := progress(a.stderr)
	defer bar.clear()
	dir, err := os.MkdirTemp("", "verifier-simulate-")
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	backend, err := sqlite.Open(a.ctx, filepath.Join(dir, "state.db"), nil)
	if err != nil {
		return report, err
	}
	played, err := store.Open(a.ctx, store.Options{
		Backend: backend, Key: replay.Key, Clients: func() []string { return []string{"replay"} },
		Wait: simulateTimeout,
	})
	if err != nil {
		return report, errors.Join(err, backend.Close())
	}
	defer func() { err = errors.Join(err, played.Close()) }()
	return replay.Run(a.ctx, sessions, replay.Options{
		Policy: rules, Redactor: redactor, Progress: bar.show, Store: played, Visible: visible,
	})
}

func (c *SimulateCmd) print(a *app, r *replay.Report) error {
	if c.JSON {
		return a.printJSON(r)
	}
	a.printf("calls                     %d in %d tasks; %d sessions in all\n", r.Calls, r.Tasks, r.Sessions)
	a.printf("asked                     %d, %.3f a task\n", r.Asked, r.PromptsPerTask)
	a.printf(
		"injected calls passed     %d of %d, in %d sessions\n",
		r.InjectedPassed,
		r.InjectedCalls,
		r.LeakedSessions,
	)
	a.printf("tasks without a question  %.1f %%\n", 100*r.TasksWithoutQuestion)
	if r.Refused > 0 {
		a.printf("refused unasked           %d\n", r.Refused)
	}
	title := "asked about"
	for _, n := range r.Tools[:min(len(r.Tools), mostListed)] {
		a.printf("%-24s %6d  %s\n", title, n.Times, printable(n.Name))
		title = ""
	}
	if more := len(r.Tools) - mostListed; more > 0 {
		a.printf("%25sand %s more\n", "", count(more, "tool"))
	}
	return nil
}

const (
	mostListed      = 12
	simulateTimeout = 10 * time.Second // no caller waits for a single decision
)

// bar shows how far a long command is, on a terminal and nowhere else.
type bar struct{ to io.Writer }

func progress(to io.Writer) *bar {
	f, ok := to.(*os.File)
	if !ok {
		return &bar{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &bar{}
	}
	return &bar{to: f}
}

func (b *bar) show(done, of int) {
	if b.to == nil {
		return
	}
	const width = 40
	full := width * done / of
	// it is only for show
	fill := strings.Repeat("=", full) + strings.Repeat(" ", width-full)
	fmt.Fprintf(b.to, "\r[%s] %d/%d", fill, done, of) //nolint:errcheck // it is only for show
}

func (b *bar) clear() {
	if b.to != nil {
		fmt.Fprint(b.to, "\r\x1b[K") //nolint:errcheck // as above
	}
}

// labelReport is what came of forgetting one label.
type labelReport struct {
	Tool           string `json:"tool"`
	Sessions       int    `json:"sessions"` // that call it: no other is decided differently
	InjectedCalls  int    `json:"injectedCalls"`
	InjectedPassed int    `json:"injectedPassed"`
	LeakedSessions int    `json:"leakedSessions"`
}

// leaveOneOut asks of each label what happens if the owner had forgotten it.
func (c *SimulateCmd) leaveOneOut(a *app, cfg policy.Config, sessions []replay.Session) error {
	reports, total := []labelReport{}, 0
	for _, tool := range slices.Sorted(maps.Keys(cfg.Tools)) {
		without := cfg
		without.Tools = maps.Clone(cfg.Tools)
		delete(without.Tools, tool)
		calling := thatCall(sessions, tool)
		r, err := c.play(a, without, calling)
		if err != nil {
			return err
		}
		reports = append(reports, labelReport{tool, len(calling), r.InjectedCalls, r.InjectedPassed, r.LeakedSessions})
		total += r.InjectedPassed
	}
	if c.JSON {
		return errors.Join(a.printJSON(reports), leaked(total))
	}
	for _, r := range reports {
		a.printf(
			"without %-45s %5d of %d injected calls passed unasked, in %d of %d sessions\n",
			printable(r.Tool),
			r.InjectedPassed,
			r.InjectedCalls,
			r.LeakedSessions,
			r.Sessions,
		)
	}
	return leaked(total)
}

func thatCall(sessions []replay.Session, tool string) []replay.Session {
	return slices.DeleteFunc(slices.Clone(sessions), func(s replay.Session) bool {
		return !slices.ContainsFunc(
			s.Calls,
			func(c replay.Call) bool { return protocol.Canonical(c.Tool) == protocol.Canonical(tool) },
		)
	})
}
