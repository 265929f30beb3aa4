package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// A server holds a call for a while only. The call is sent again then, and joins
// the same question.
func TestSendWaitsAsLongAsTheQuestionIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Webhook.MaxHold, c.Webhook.Hold = 2*time.Second, 2*time.Second })
	said, out := &output{}, &bytes.Buffer{}
	ended := make(chan int, 1)
	a := &app{chats: builtin, ctx: t.Context(), stdout: out, stderr: said}
	go func() {
		ended <- a.run([]string{"send", "--url", r.url, "--state", r.state.Dir(), "--tool", "exec", "--params", `{"command":"make deploy"}`})
	}()
	redistest.Eventually(t, "it says that it waits", func() bool {
		return strings.Contains(said.String(), "Waiting for the owner to answer. `verifier watch --state ")
	})
	ref := r.waits().Ref
	redistest.Eventually(t, "it was held, denied and held again", func() bool {
		denied := 0
		for _, e := range r.entries() {
			if e.Kind == audit.KindDecision && e.Decision == audit.Deny && e.Ref == ref {
				denied++
			}
		}
		return denied > 1
	})
	r.approve(ref, 0)
	if code := <-ended; code != exitOK || out.String() != "allow\n" {
		t.Errorf("it ended with %d and %q", code, out)
	}
}
