package protocol

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const head = `"version":1,"timestamp":"2026-02-12T15:30:00Z","requestId":"r-1"`

func withTool(tool string) string { return `{` + head + `,"tool":` + tool + `}` }

func withParams(params string) string {
	return withTool(`{"name":"exec","params":` + params + `}`)
}

func withContext(context string) string {
	return `{` + head + `,"tool":{"name":"exec","params":{}},"context":` + context + `}`
}

func mustDecode(t testing.TB, body string) Call {
	t.Helper()
	c, err := Decode([]byte(body))
	if err != nil {
		t.Fatalf("Decode(%.200q): %v", body, err)
	}
	return c
}

func TestEveryMemberIsDecoded(t *testing.T) {
	body := `{` + head + `,"tool":{"name":" Bash ","params":{"command":"ls"}},"context":{
		"agentId":"main","sessionKey":"agent:main:main","messageProvider":"telegram","sessionId":"s","runId":"r",
		"toolCallId":"t","iteration":3,"channelId":"ch","accountId":"ac","senderId":"42","senderIsOwner":true,
		"groupId":"g","spawnedBy":"agent:main:x","trigger":"user","inputProvenance":{"kind":"external_user","more":[1]},
		"userMessages":[{"text":"line\none","senderId":"42","senderIsOwner":true,"at":"2026-02-12T15:29:00Z"},
			{"text":"two","at":1770910140000},{"text":"three","senderIsOwner":true,"new":{}}],
		"waitMs":30000,"somethingNew":{"a":[null]}}}`
	body = strings.ReplaceAll(body, "line\none", `line\none`)
	c := mustDecode(t, body)
	x := c.Context
	for what, got := range map[string][2]string{
		"tool": {c.Tool, "exec"}, "sent": {c.Sent, " Bash "}, "params": {string(c.Params), `{"command":"ls"}`},
		"request": {c.RequestID, "r-1"}, "client": {c.Client, ""},
		"agent": {x.AgentID, "main"}, "key": {x.SessionKey, "agent:main:main"}, "provider": {x.MessageProvider,
			"telegram"},
		"session": {x.SessionID, "s"}, "run": {x.RunID, "r"}, "call": {x.ToolCallID, "t"}, "channel": {x.ChannelID,
			"ch"},
		"sender": {x.SenderID, "42"}, "group": {x.GroupID, "g"},
		"spawned": {x.SpawnedBy, "agent:main:x"}, "trigger": {x.Trigger, "user"}, "provenance": {x.InputProvenance.Kind,
			"external_user"},
		"text":  {x.UserMessages[0].Text, "line\none"},
		"owner": {strings.Join(c.OwnerMessages(), "|"), "line\none|three"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %q, want %q", what, got[0], got[1])
		}
	}
	if !x.SenderIsOwner || x.Iteration == nil || *x.Iteration != 3 || x.WaitMs != 30000 {
		t.Errorf("context: %+v", x)
	}
	if want := time.Date(2026, 2, 12, 15, 30, 0, 0, time.UTC); !c.Timestamp.Equal(want) {
		t.Errorf("timestamp: %v", c.Timestamp)
	}
}

func TestContextIsOptionalAndNullIsAbsent(t *testing.T) {
	for _, body := range []string{withParams(`{}`), withContext(`{}`), withContext(`{"agentId":null,"sessionKey":null,
		"iteration":null,"senderIsOwner":null,"inputProvenance":null,"userMessages":null,"waitMs":null}`),
		withContext(`{"inputProvenance":{"kind":null},"userMessages":[]}`)} {
		c := mustDecode(t, body)
		x := c.Context
		if x.AgentID != "" || x.SenderIsOwner || x.Iteration != nil || len(x.UserMessages) > 0 || x.WaitMs != 0 ||
			x.InputProvenance.Kind != "" {
			t.Errorf("%s: %+v", body, x)
		}
	}
	if c := mustDecode(t, withContext(`{"inputProvenance":"webhook"}`)); c.Context.InputProvenance.Kind != "webhook" {
		t.Error("a provenance given as a string is lost")
	}
}

func TestWaitIsBounded(t *testing.T) {
	c := mustDecode(t, withContext(`{"waitMs":9223372036854775807}`))
	if d := time.Duration(c.Context.WaitMs) * time.Millisecond; d != 24*time.Hour {
		t.Errorf("got %v", d)
	}
}

func TestEveryKnownContextNameIsGuarded(t *testing.T) {
	for _, m := range shapeOf(reflect.TypeFor[Context]()).members {
		name := m.name
		if _, err := Decode([]byte(withContext(`{"` + strings.ToUpper(name) + `":null}`))); err == nil {
			t.Errorf("%s in upper case is taken for an unknown member", name)
		}
		mustDecode(t, withContext(`{"`+name+`":null}`))
	}
}

func TestH14OtherSpellingsAreOneTool(t *testing.T) {
	for sent, want := range map[string]string{
		"exec": "exec", "EXEC": "exec", " exec ": "exec", "\texec\r\n": "exec", "bash": "exec", " Bash": "exec",
		"apply-patch": "apply_patch", "Apply-Patch": "apply_patch", "apply_patch": "apply_patch", "cron": "automations",
		"sessions_send": "sessions_send", "": "", "  ": "",
	} {
		if got := Canonical(sent); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", sent, got, want)
		}
		if got := Canonical(Canonical(sent)); got != want {
			t.Errorf("Canonical is not stable for %q: %q", sent, got)
		}
	}
	c := mustDecode(t, withTool(`{"name":" BASH ","params":{}}`))
	if c.Tool != "exec" || c.Sent != " BASH " {
		t.Errorf("tool %q, sent %q", c.Tool, c.Sent)
	}
}

func TestH15LookAlikesAreUnknownTools(t *testing.T) {
	for _, sent := range []string{"\u0435xec", "ex\u200bec", "\u00a0exec", "exec\u2003", "ｅｘｅｃ", "e\u0301xec",
		"exec\u0000", "ba\u017fh", "\u212aexec"} {
		switch got := Canonical(sent); got {
		case "exec", "kexec":
			t.Errorf("%+q became %q", sent, got)
		default:
			if got != sent {
				t.Errorf("%+q changed into %+q", sent, got)
			}
		}
	}
}

func TestAnnotationsAreRead(t *testing.T) {
	body := func(annotations string) []byte {
		return []byte(withTool(`{"name":"a","params":{},"annotations":` + annotations + `}`))
	}
	c, err := Decode(body(`{"title":"A","readOnlyHint":false,"destructiveHint":true,"openWorldHint":null}`))
	if err != nil || !c.Hints.Acts() || !c.Hints.Destroys() || c.Hints.Outside() {
		t.Errorf("%+v, %v", c.Hints, err)
	}
	if c, err := Decode(body(`null`)); err != nil || c.Hints.Acts() {
		t.Errorf("%+v, %v", c.Hints, err)
	}
	for _, wrong := range []string{`[]`, `"x"`, `{"readOnlyHint":"no"}`, `{"readOnlyHint":true,"readOnlyHint":false}`} {
		if _, err := Decode(body(wrong)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
