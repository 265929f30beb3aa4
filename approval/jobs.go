package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/session"
)

// Jobs are the agents with scheduled jobs that come from outside content, each with
// those jobs as its sources. Agents for all of whose jobs someone has vouched are
// left out.
func (d *Desk) Jobs(ctx context.Context) (out []session.Account, _ error) {
	entries, err := d.o.Store.Notes(ctx, session.JobsList)
	if err != nil {
		return nil, err
	}
	seen := map[session.Conversation]bool{}
	for _, e := range entries {
		c, ok := session.UnpackJobs(e)
		if !ok || seen[c] {
			continue
		}
		seen[c] = true
		account, err := d.Sources(ctx, c.Hash())
		switch {
		case errors.Is(err, ErrUnknown):
		case err != nil:
			return nil, err
		case slices.ContainsFunc(account.Influences, counts):
			out = append(out, account)
		}
	}
	return out, nil
}

func counts(i session.Influence) bool { return i.Endorsed.IsZero() }

// listJobs answers `.sources` without a reference.
func (d *Desk) listJobs(ctx context.Context, via string) (Outcome, error) {
	all, err := d.Jobs(ctx)
	if err != nil {
		return d.noSource(via, "", err)
	}
	if len(all) == 0 {
		return Outcome{Kind: Told, Text: "No scheduled job comes from outside content. Add the reference from a card to list what came into that conversation."}, nil
	}
	var b strings.Builder
	b.WriteString("Scheduled jobs that come from a conversation with outside content in it:\n")
	for i := range all {
		ref := all[i].Conversation.Ref()
		for _, one := range all[i].Influences {
			if counts(one) {
				fmt.Fprintf(&b, "%s %s\n", ref, SourceLine(&one))
			}
		}
	}
	b.WriteString(command(via, "endorse <reference> <number>") + " vouches for one of them. Removing a job in your agent's software removes it here.")
	return Outcome{Kind: Told, Text: b.String()}, nil
}
