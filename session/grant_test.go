package session_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

var serverKey = hmac.Key("0123456789abcdef0123456789abcdef")

func someGrant() session.Grant {
	return session.Grant{
		Conversation: session.Conversation{Client: "laptop", Key: "agent:main:main"},
		Tool:         "exec", Agent: "main", Session: "s1", Run: "",
		ID: "card", By: "telegram:1|x", Until: time.Unix(1_700_000_000, 0), Level: taint.External,
	}
}

// coverage is a grant as one who looks it up knows it: where, not what.
func coverage(g session.Grant) session.Grant {
	return session.Grant{Conversation: g.Conversation, Tool: g.Tool, Agent: g.Agent, Session: g.Session, Run: g.Run}
}

func TestAGrantSaysWhatItCovers(t *testing.T) {
	given := someGrant()
	given.Run = "r.1|x"
	read, err := session.ReadGrant(serverKey, given.Value(serverKey))
	if err != nil || read.Tool != given.Tool || read.Conversation != given.Conversation || read.Run != given.Run ||
		read.Name() != given.Name() ||
		read.By != given.By {
		t.Errorf("given %+v, read %+v, %v", given, read, err)
	}
}

func TestAGrantCoversNothingElse(t *testing.T) {
	given := someGrant()
	given.Like = session.Exactly("git log")
	for what, like := range map[string]string{"all of the tool": "", "another call": session.Exactly("git push"),
		"a destination": "git log"} {
		needs := coverage(given)
		needs.Like = like
		if err := needs.Open(serverKey, given.Value(serverKey)); !errors.Is(err, session.ErrForged) ||
			needs.Field() == given.Field() {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzReadGrant(f *testing.F) {
	given := someGrant()
	f.Add(given.Value(serverKey))
	f.Add(strings.Replace(given.Value(serverKey), "656c65", "656C65", 1)) // the same person, in other digits
	f.Add(strings.ToUpper(given.Value(serverKey)))
	f.Add("1700000000|4|card|00|00|0.0.0.0.0.0")
	f.Add("1700000000|4|card|" + "6f776e6572" + "|seal")
	f.Fuzz(func(t *testing.T, value string) {
		g, err := session.ReadGrant(serverKey, value)
		if err == nil && value != given.Value(serverKey) {
			t.Fatalf("%q was read as %+v", value, g)
		}
		if err != nil && g != (session.Grant{}) {
			t.Fatalf("a refused value gives %+v", g)
		}
	})
}

func TestH26AGrantHoldsOnlyWhereItWasGiven(t *testing.T) {
	given := someGrant()
	value := given.Value(serverKey)
	for what, change := range map[string]func(*session.Grant){
		"another client":       func(g *session.Grant) { g.Conversation.Client = "phone" },
		"another conversation": func(g *session.Grant) { g.Conversation.Key = "agent:main:direct:2" },
		"another tool":         func(g *session.Grant) { g.Tool = "message" },
		"another agent":        func(g *session.Grant) { g.Agent = "ops" },
		"no agent":             func(g *session.Grant) { g.Agent = "" },
		"another session":      func(g *session.Grant) { g.Session = "s2" },
		"a run":                func(g *session.Grant) { g.Run = "r" },
		"fields run together":  func(g *session.Grant) { g.Tool, g.Agent = "execm", "ain" },
	} {
		read := coverage(given)
		change(&read)
		if err := read.Open(serverKey, value); !errors.Is(err, session.ErrForged) {
			t.Errorf("%s: opened, %v", what, err)
		}
		if what != "another client" && what != "another conversation" && read.Field() == given.Field() {
			t.Errorf("%s stands in the same field", what)
		}
	}
}

// Whatever is changed of a grant, it is none; verifier's test of the same name goes through both stores.
func TestH30AGrantWrittenIntoTheStoreIsNone(t *testing.T) {
	given := someGrant()
	value := given.Value(serverKey)
	forged := []string{
		"",
		"allow",
		value + "|",
		value + ".00",
		given.Value(hmac.Key(strings.Repeat("k", 32))),
		given.Value(nil),
	}
	for i := range value {
		forged = append(forged, value[:i], value[i+1:], value[:i]+string(value[i]^1)+value[i+1:])
	}
	for _, v := range forged {
		if v == value {
			continue
		}
		read := coverage(given)
		if err := read.Open(serverKey, v); !errors.Is(err, session.ErrForged) {
			t.Errorf("%q: opened, %v", v, err)
		}
		if _, err := session.ReadGrant(serverKey, v); !errors.Is(err, session.ErrForged) {
			t.Errorf("%q: read, %v", v, err)
		}
	}
	read := coverage(given)
	if err := read.Open(nil, given.Value(nil)); !errors.Is(err, session.ErrForged) {
		t.Errorf("without a key anything opens: %v", err)
	}
}

func TestH30AGrantDoesNotCoverAWorseLevelOrALaterTime(t *testing.T) {
	g := someGrant()
	before := g.Until.Add(-time.Second)
	for level, want := range map[taint.Level]bool{taint.System: true, taint.External: true, taint.Untrusted: false} {
		if g.Covers(level, before) != want {
			t.Errorf("covers %s: %v", level, !want)
		}
	}
	if g.Covers(taint.Owner, g.Until) || g.Covers(taint.Owner, g.Until.Add(time.Hour)) {
		t.Error("covers a call after its end")
	}
}
