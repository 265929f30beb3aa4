package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

// A server holds a call for a while only. The call is sent again then, and joins
// the same question.
func TestSendWaitsAsLongAsTheQuestionIsOpen(t *testing.T) {
	t.Parallel()
	g := gw.Start(t, "webhook: {hold: 2s, maxHold: 2s}\n")
	said, out := &gw.Output{}, &bytes.Buffer{}
	ended := make(chan int, 1)
	a := &app{chats: builtin, ctx: t.Context(), stdout: out, stderr: said}
	go func() {
		ended <- a.run([]string{"send", "--url", g.URL, "--state", g.State.Dir(), "--tool", "exec", "--params",
			`{"command":"make deploy"}`})
	}()
	redistest.Eventually(t, "it says that it waits", func() bool {
		return strings.Contains(said.String(), "Waiting for the owner to answer. `verifier watch --state ")
	})
	ref := g.Waits().Ref
	redistest.Eventually(t, "it was held, denied and held again", func() bool {
		denied := 0
		for _, e := range g.Entries() {
			if e.Kind == record.KindDecision && e.Decision == record.Deny && e.Ref == ref {
				denied++
			}
		}
		return denied > 1
	})
	g.Approve(ref, 0)
	if code := <-ended; code != exitOK || out.String() != "allow\n" {
		t.Errorf("it ended with %d and %q", code, out)
	}
}
