package verifier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/verifier"
)

func TestARuntimeThatIsSilentOrSwitchedOffIsAFault(t *testing.T) {
	now := time.Now()
	r := verifier.Runtime{Client: "default", Hello: loop.Hello{Name: "OpenClaw", Version: "0.1.0", FailMode: "deny", Instance: "i1"}, Last: now.Add(-4 * time.Second)}
	if good, fault := r.Says(now); good != "client default, heard 4s ago: version 0.1.0, asks about every tool, failMode deny" || fault != "" {
		t.Errorf("%q, %q", good, fault)
	}
	if good, _ := r.Says(now.Add(-time.Hour)); !strings.Contains(good, "heard 0s ago") {
		t.Errorf("with a clock that was set back: %q", good)
	}
	if good, fault := r.Says(now.Add(16 * time.Minute)); good != "" || !strings.Contains(fault, "was last heard 16m0s ago") {
		t.Errorf("%q, %q", good, fault)
	}
	agent := verifier.Runtime{Client: "default", Hello: loop.Hello{Name: "claude-code", Version: "2.1.325"}, Last: now.Add(-time.Hour)}
	if good, fault := agent.Says(now); good == "" || fault != "" {
		t.Errorf("a coding agent that has not run for an hour: %q, %q", good, fault)
	}
	r.Off = true
	if good, fault := r.Says(now); good != "" || !strings.Contains(fault, "tool calls run unasked") || !strings.Contains(fault, "restart") {
		t.Errorf("%q, %q", good, fault)
	}
}

func TestWhoHasSaidHelloIsBounded(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	hello := func(client, instance string) bool {
		e := loop.Event{Name: loop.SaysHello, Hello: loop.Hello{Name: "OpenClaw", Version: "1", Instance: instance}}
		e.Call.Client = client
		return r.v.Hear(t.Context(), &e).Accepted
	}
	for i := range 64 {
		if !hello(fmt.Sprint("client-", i), "a") || !hello(fmt.Sprint("client-", i), "b") {
			t.Fatalf("client %d is refused", i)
		}
	}
	if hello("one more", "a") {
		t.Error("there is no end to who may say hello")
	}
	if !hello("client-1", "c") {
		t.Error("a client that is known is refused")
	}
	all := r.v.Runtimes()
	if len(all) != 64 || all[0].Client != "client-0" || all[0].Instance != "b" {
		t.Errorf("%d runtimes, the first is %+v", len(all), all[0])
	}
}
