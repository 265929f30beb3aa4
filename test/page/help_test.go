// Package page_test has the owner's page before the real program: over HTTP, on a phone that gets notifications, and in a
// real Chromium. make test leaves the last out: package web proves what the page shows and refuses, and this that a
// browser does with it what it should.
package page_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// patient has calls held for as long as a browser on a busy machine may need to get to the answer.
const patient = "webhook: {hold: 60s, maxHold: 60s}\n"

// unattested is a run whose starter nobody names, and inGroup the owner's message in a group: both ask.
func unattested(session string) gateway.Context {
	return gateway.Context{"sessionKey": "agent:main:" + session}
}

func inGroup(session string) gateway.Context {
	return gateway.With(gateway.OwnerIn(session), "groupId", "g1")
}

// run is a command with whatever characters.
func run(command string, ctx gateway.Context) gateway.Call {
	params, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // a string can be written
	}
	return gateway.Call{Tool: "exec", Params: string(params), Context: ctx}
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	redistest.Eventually(t, what, is)
}

// refused says no to a call that is held, and checks that it did not run.
func refused(t *testing.T, g *gateway.Gateway, held <-chan gateway.Answer) {
	t.Helper()
	g.Refuse(g.Waits().Ref, "")
	if a := <-held; a.Allowed() {
		t.Errorf("it passed: %s", a.Raw)
	}
}
