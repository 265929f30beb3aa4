package main

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// says waits for the line that says something and names a request.
func (r *rig) says(text, rid string) {
	r.t.Helper()
	line := regexp.MustCompile(`.*` + regexp.QuoteMeta(text) + `.* rid=` + rid + `\b`)
	redistest.Eventually(r.t, "the log says "+text+" of the request", func() bool { return rid != "" && line.MatchString(r.log.String()) })
}

func TestWhatIsLoggedOfACallNamesItsRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Approvers = []config.Approver{} })
	a := r.deny(call{tool: "exec", params: `{"command":"cat hunter2"}`, context: unvouched("x")})
	r.says("a call needs a person and none can be asked", a.rid)
	r.says("a request was answered", a.rid)
	b := r.send(call{tool: "read", params: `{"path":"hunter2"}`, context: ownerIn("m")})
	r.says("a request was answered", b.rid)
	if a.rid == b.rid || strings.Contains(r.log.String(), "hunter2") {
		t.Errorf("ids %s and %s in\n%s", a.rid, b.rid, r.log)
	}
}

// deaf is a channel that nothing can be sent on.
type deaf struct{}

func (deaf) Send(context.Context, *approval.Card) (string, error) {
	return "", errors.New("out of order")
}
func (deaf) Settle(context.Context, string, *approval.Card, approval.Outcome) error { return nil }
func (deaf) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}

func TestWhatIsDoneOnBehalfOfACallNamesItsRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Webhook.Hold = 1 })
	r.quit()
	r.channels = map[string]approval.Channel{"deaf": deaf{}}
	r.start()
	a := r.deny(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
	r.says("a card could not be sent", a.rid)
}

func TestAReloadChangesTheLevelOfTheLog(t *testing.T) {
	t.Parallel()
	r, level := newRig(t, nil), &slog.LevelVar{}
	out := &output{}
	r.g.log, r.g.level = newLog(out, r.cfg.Log, level), level
	set := func(l config.LogLevel) {
		next := *r.cfg
		next.Log.Level = l
		if err := r.g.reload(&next, policy.Guard{}); err != nil {
			t.Fatal(err)
		}
	}
	set(config.LogError)
	quiet := out.String()
	set(config.LogError)
	if out.String() != quiet {
		t.Errorf("a quiet log says %s", out)
	}
	set(config.LogDebug)
	if !strings.Contains(out.String(), "changed=[log.level]") {
		t.Errorf("the log says %s", out)
	}
}
