package main

import (
	"errors"
	"maps"
	"slices"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/replay"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// labelReport is what came of forgetting one label.
type labelReport struct {
	Tool            string `json:"tool"`
	Sessions        int    `json:"sessions"` // that call it: no other is decided differently
	InjectedCalls   int    `json:"injectedCalls"`
	InjectedAllowed int    `json:"injectedAllowed"`
	LeakedSessions  int    `json:"leakedSessions"`
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
		reports = append(reports, labelReport{tool, len(calling), r.InjectedCalls, r.InjectedAllowed, r.LeakedSessions})
		total += r.InjectedAllowed
	}
	if c.JSON {
		return errors.Join(a.printJSON(reports), leaked(total))
	}
	for _, r := range reports {
		a.printf("without %-45s %5d of %d injected calls passed unasked, in %d of %d sessions\n", printable(r.Tool), r.InjectedAllowed, r.InjectedCalls, r.LeakedSessions, r.Sessions)
	}
	return leaked(total)
}

func thatCall(sessions []replay.Session, tool string) []replay.Session {
	var out []replay.Session
	for _, s := range sessions {
		if slices.ContainsFunc(s.Calls, func(c replay.Call) bool { return toolcall.Canonical(c.Tool) == toolcall.Canonical(tool) }) {
			out = append(out, s)
		}
	}
	return out
}
