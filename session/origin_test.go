package session_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestAnOriginReadsAsASentence(t *testing.T) {
	for want, o := range map[string]session.Origin{
		"you wrote it":         {From: session.FromUser, Level: taint.Owner},
		"you wrote part of it": {From: session.FromPart, Level: taint.Untrusted},
		"not in your messages, nor in anything the agent read": {From: session.FromNowhere, Level: taint.Untrusted},
		"too short to compare":                                 {From: session.FromNothing, Level: taint.Untrusted},
		"came from read notes.txt (local)":                     {From: session.FromTool, Level: taint.Local, Tool: "read", Place: "notes.txt"},
		"came from message 1 call ago (external)":              {From: session.FromTool, Level: taint.External, Tool: "message", Ago: 1},
		"came from web_fetch 2 calls ago (shared)":             {From: session.FromTool, Level: taint.Shared, Tool: "web_fetch", Ago: 2},
	} {
		if got := o.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhatNobodyLookedAtWasSeenNowhere(t *testing.T) {
	said := session.Origins{"to": {From: session.FromUser, Level: taint.Owner}}
	if got := said.At("to"); got.From != session.FromUser || got.Level != taint.Owner {
		t.Errorf("got %+v", got)
	}
	for _, o := range []session.Origins{nil, said} {
		if got := o.At("cc"); got.From != session.FromNowhere || got.Level != taint.Untrusted {
			t.Errorf("got %+v", got)
		}
	}
	if got := (session.Origin{}).String(); got != "not in your messages, nor in anything the agent read" {
		t.Errorf("the zero origin reads %q", got)
	}
}
