package toolcall

import (
	"bytes"
	"crypto/sha256"
	"errors"
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

// refuse checks that each body is Malformed with a reason that does not repeat
// the body: every body carries the word canary where it can.
func refuse(t *testing.T, bodies map[string]string) {
	t.Helper()
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			c, err := Decode([]byte(body))
			m, ok := errors.AsType[*Malformed](err)
			if !ok {
				t.Fatalf("got %+v, %v; want a Malformed", c, err)
			}
			if !strings.HasSuffix(m.Reason, ".") || strings.Contains(m.Reason, "canary") || len(m.Reason) > 120 {
				t.Errorf("reason %q is not a short clean sentence", m.Reason)
			}
		})
	}
}

func accept(t *testing.T, bodies map[string]string) {
	t.Helper()
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) { mustDecode(t, body) })
	}
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
		"agent": {x.AgentID, "main"}, "key": {x.SessionKey, "agent:main:main"}, "provider": {x.MessageProvider, "telegram"},
		"session": {x.SessionID, "s"}, "run": {x.RunID, "r"}, "call": {x.ToolCallID, "t"}, "channel": {x.ChannelID, "ch"},
		"account": {x.AccountID, "ac"}, "sender": {x.SenderID, "42"}, "group": {x.GroupID, "g"},
		"spawned": {x.SpawnedBy, "agent:main:x"}, "trigger": {x.Trigger, "user"}, "provenance": {x.InputProvenance.Kind, "external_user"},
		"text": {x.UserMessages[0].Text, "line\none"}, "at": {x.UserMessages[0].At, "2026-02-12T15:29:00Z"},
		"at number": {x.UserMessages[1].At, "1770910140000"},
		"owner":     {strings.Join(c.OwnerMessages(), "|"), "line\none|three"},
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
	if c.Body != sha256.Sum256([]byte(body)) {
		t.Error("Body is not the hash of the raw bytes")
	}
}

func TestContextIsOptionalAndNullIsAbsent(t *testing.T) {
	for _, body := range []string{withParams(`{}`), withContext(`{}`), withContext(`{"agentId":null,"sessionKey":null,
		"iteration":null,"senderIsOwner":null,"inputProvenance":null,"userMessages":null,"waitMs":null}`),
		withContext(`{"inputProvenance":{"kind":null},"userMessages":[]}`)} {
		c := mustDecode(t, body)
		x := c.Context
		if x.AgentID != "" || x.SenderIsOwner || x.Iteration != nil || x.UserMessages != nil || x.WaitMs != 0 || x.InputProvenance.Kind != "" {
			t.Errorf("%s: %+v", body, x)
		}
	}
	if c := mustDecode(t, withContext(`{"inputProvenance":"webhook"}`)); c.Context.InputProvenance.Kind != "webhook" {
		t.Error("a provenance given as a string is lost")
	}
}

func TestParamsArePrivateToTheCall(t *testing.T) {
	body := []byte(withParams(`{"a":"b"}`))
	c, err := Decode(body)
	clear(body)
	if err != nil || string(c.Params) != `{"a":"b"}` {
		t.Errorf("params changed with the body: %q, %v", c.Params, err)
	}
}

func TestWaitIsBounded(t *testing.T) {
	c := mustDecode(t, withContext(`{"waitMs":9223372036854775807}`))
	if d := time.Duration(c.Context.WaitMs) * time.Millisecond; d != 24*time.Hour {
		t.Errorf("got %v", d)
	}
}

func TestH09DuplicateKeysAreRefused(t *testing.T) {
	refuse(t, map[string]string{
		"tool name":       withTool(`{"name":"read","name":"exec","params":{}}`),
		"top level":       `{` + head + `,"version":1,"tool":{"name":"read","params":{}}}`,
		"two tools":       `{` + head + `,"tool":{"name":"read","params":{}},"tool":{"name":"exec","params":{}}}`,
		"params":          withParams(`{"canary":1,"canary":2}`),
		"deep in params":  withParams(`{"a":[{"b":{"c":1,"c":1}}]}`),
		"by escape":       withParams(`{"a":1,"\u0061":2}`),
		"context":         withContext(`{"agentId":"a","agentId":"a"}`),
		"unknown context": withContext(`{"x":{"y":1,"y":2}}`),
		"message":         withContext(`{"userMessages":[{"text":"a","text":"b"}]}`),
	})
}

func TestH10KeysInOtherCaseAreRefused(t *testing.T) {
	refuse(t, map[string]string{
		"TOOL":             `{` + head + `,"TOOL":{"name":"exec","params":{}}}`,
		"tool and TOOL":    `{` + head + `,"tool":{"name":"read","params":{}},"TOOL":{"name":"exec","params":{}}}`,
		"Name":             withTool(`{"Name":"exec","params":{}}`),
		"name and Name":    withTool(`{"name":"read","Name":"exec","params":{}}`),
		"Params":           withTool(`{"name":"exec","params":{},"Params":{}}`),
		"context agentID":  withContext(`{"agentID":"main"}`),
		"context owner":    withContext(`{"SenderIsOwner":true}`),
		"context long s":   withContext(`{"\u017fenderIsOwner":true}`),
		"message owner":    withContext(`{"userMessages":[{"text":"x","senderisowner":true}]}`),
		"provenance":       withContext(`{"inputProvenance":{"KIND":"cron"}}`),
		"unknown at top":   `{` + head + `,"tool":{"name":"read","params":{}},"canary":1}`,
		"unknown in tool":  withTool(`{"name":"exec","params":{},"canary":1}`),
		"client from body": `{` + head + `,"client":"canary","tool":{"name":"read","params":{}}}`,
	})
	accept(t, map[string]string{
		"unknown in context": withContext(`{"derivedPaths":["/x"]}`),
		"any case in params": withParams(`{"Command":"ls","command":"ls"}`),
	})
}

func TestEveryKnownContextNameIsGuarded(t *testing.T) {
	for _, name := range contextNames {
		if _, err := Decode([]byte(withContext(`{"` + strings.ToUpper(name) + `":null}`))); err == nil {
			t.Errorf("%s in upper case is taken for an unknown member", name)
		}
		mustDecode(t, withContext(`{"`+name+`":null}`))
	}
}

func TestH11InvalidTextIsRefused(t *testing.T) {
	refuse(t, map[string]string{
		"invalid byte in value":  withParams("{\"a\":\"\xff\"}"),
		"invalid byte in key":    withParams("{\"\xc3\x28\":1}"),
		"overlong":               withParams("{\"a\":\"\xc0\xaf\"}"),
		"raw surrogate":          withParams("{\"a\":\"\xed\xa0\x80\"}"),
		"lone high surrogate":    withParams(`{"a":"\ud800"}`),
		"lone low surrogate":     withParams(`{"a":"\udc00"}`),
		"swapped surrogates":     withParams(`{"a":"\udc00\ud800"}`),
		"surrogate in a key":     withParams(`{"\ud800":1}`),
		"surrogate in context":   withContext(`{"x":"\ud800"}`),
		"raw control in string":  withParams("{\"a\":\"\x01\"}"),
		"byte order mark":        "\ufeff" + withParams(`{}`),
		"UTF-16":                 "{\x00}\x00",
		"trailing value":         withParams(`{}`) + `{}`,
		"trailing word":          withParams(`{}`) + ` canary`,
		"trailing comma":         withParams(`{"a":1,}`),
		"comment":                withParams(`{/*canary*/}`),
		"single quotes":          withParams(`{'a':1}`),
		"NaN":                    withParams(`{"a":NaN}`),
		"leading zero":           withParams(`{"a":01}`),
		"cut off":                withParams(`{"a":`)[:80],
		"nothing":                "",
		"only space":             " \n",
		"string that never ends": `{"version`,
		"escape at the end":      `{"version\`,
	})
	accept(t, map[string]string{
		"surrogate pair":      withParams(`{"a":"\ud83d\ude00"}`),
		"space around":        " \n" + withParams(`{}`) + "\r\n\t",
		"escaped quotes":      withParams(`{"a":"\\","b":"\\\"","c":"[[\"{{"}`),
		"escaped names":       `{"v\u0065rsion":1,` + head[len(`"version":1,`):] + `,"tool":{"n\u0061me":"exec","params":{}}}`,
		"brackets after \\\"": withParams(`{"a":"\"` + strings.Repeat("[", 500) + `"}`),
		"brackets in texts":   withParams(`{"a":"` + strings.Repeat("[", 500) + `"}`),
		"digits in texts":     withParams(`{"a":"` + strings.Repeat("1", 500) + `","b":"1e400"}`),
	})
}

// Members are read and checked at once: what stands between them counts.
func TestWhatStandsBetweenMembersIsChecked(t *testing.T) {
	refuse(t, map[string]string{
		"no comma":             withContext(`{"agentId":"a" "runId":"b"}`),
		"two commas":           withContext(`{"agentId":"a",,"runId":"b"}`),
		"comma first":          withContext(`{,"agentId":"a"}`),
		"comma last":           withContext(`{"agentId":"a",}`),
		"no colon":             withContext(`{"agentId" "a"}`),
		"two colons":           withContext(`{"agentId"::"a"}`),
		"colon for comma":      withContext(`{"agentId":"a":"runId":"b"}`),
		"comma for colon":      withContext(`{"agentId","a"}`),
		"no name":              withContext(`{:"a"}`),
		"bare name":            withContext(`{agentId:"a"}`),
		"no value":             withContext(`{"agentId":}`),
		"other bracket":        withContext(`{"agentId":"a"]`),
		"no bracket":           withContext(`{"agentId":"a"`),
		"messages, no comma":   withContext(`{"userMessages":[{}{}]}`),
		"messages, comma last": withContext(`{"userMessages":[{},]}`),
		"messages, bracket":    withContext(`{"userMessages":[{}}}`),
		"messages, colon":      withContext(`{"userMessages":[{}:{}]}`),
		"after the body":       withContext(`{}`) + "}",
		"a zero after it":      withContext(`{}`) + "\x00",
		"a word after it":      withContext(`{}`) + "x",
	})
}

func TestH12WrongShapesAreRefused(t *testing.T) {
	const tool = `,"tool":{"name":"exec","params":{}}}`
	const times = `"timestamp":"2026-02-12T15:30:00Z"`
	long := strings.Repeat("x", MaxText+1)
	refuse(t, map[string]string{
		"tool null": withTool(`null`), "tool string": withTool(`"exec"`), "tool array": withTool(`[]`),
		"tool missing": `{` + head + `}`,
		"params array": withParams(`[]`), "params string": withParams(`"{}"`), "params null": withParams(`null`), "params number": withParams(`1`),
		"params missing": withTool(`{"name":"exec"}`),
		"name missing":   withTool(`{"params":{}}`), "name null": withTool(`{"name":null,"params":{}}`),
		"name number": withTool(`{"name":1,"params":{}}`), "name empty": withTool(`{"name":"","params":{}}`),
		"name blank": withTool(`{"name":" \t","params":{}}`), "name long": withTool(`{"name":"` + strings.Repeat("a", MaxToolName+1) + `","params":{}}`),
		"version 2":         `{"version":2,` + times + `,"requestId":"r"` + tool,
		"version string":    `{"version":"1",` + times + `,"requestId":"r"` + tool,
		"version 1.0":       `{"version":1.0,` + times + `,"requestId":"r"` + tool,
		"version null":      `{"version":null,` + times + `,"requestId":"r"` + tool,
		"version missing":   `{` + times + `,"requestId":"r"` + tool,
		"request missing":   `{"version":1,` + times + tool,
		"request empty":     `{"version":1,` + times + `,"requestId":""` + tool,
		"request number":    `{"version":1,` + times + `,"requestId":7` + tool,
		"request space":     `{"version":1,` + times + `,"requestId":"a b"` + tool,
		"request newline":   `{"version":1,` + times + `,"requestId":"a\nb"` + tool,
		"request not ASCII": `{"version":1,` + times + `,"requestId":"é"` + tool,
		"request long":      `{"version":1,` + times + `,"requestId":"` + strings.Repeat("a", MaxRequestID+1) + `"` + tool,
		"time missing":      `{"version":1,"requestId":"r"` + tool,
		"time number":       `{"version":1,"timestamp":1770910140,"requestId":"r"` + tool,
		"time no zone":      `{"version":1,"timestamp":"2026-02-12T15:30:00","requestId":"r"` + tool,
		"time comma":        `{"version":1,"timestamp":"2026-02-12T15:30:00,5Z","requestId":"r"` + tool,
		"time short hour":   `{"version":1,"timestamp":"2026-02-12T5:30:00.5Z","requestId":"r"` + tool,
		"time far zone":     `{"version":1,"timestamp":"2026-02-12T15:30:00+24:00","requestId":"r"` + tool,
		"time zero":         `{"version":1,"timestamp":"0001-01-01T00:00:00Z","requestId":"r"` + tool,
		"body null":         `null`, "body array": `[]`, "body string": `"canary"`, "body empty": `{}`,
		"context null": withContext(`null`), "context array": withContext(`[]`), "context string": withContext(`"canary"`),
		"agent number": withContext(`{"agentId":1}`), "key object": withContext(`{"sessionKey":{}}`),
		"agent control": withContext(`{"agentId":"a\u0000b"}`), "key newline": withContext(`{"sessionKey":"a\nb"}`),
		"run delete": withContext(`{"runId":"a\u007fb"}`), "provider escape": withContext(`{"messageProvider":"\u001b[2J"}`),
		"key long": withContext(`{"sessionKey":"` + long + `"}`), "session long": withContext(`{"sessionId":"` + long + `"}`),
		"owner string": withContext(`{"senderIsOwner":"true"}`), "owner number": withContext(`{"senderIsOwner":1}`),
		"iteration negative": withContext(`{"iteration":-1}`), "iteration fraction": withContext(`{"iteration":1.5}`),
		"iteration string": withContext(`{"iteration":"1"}`), "iteration huge": withContext(`{"iteration":99999999999999999999}`),
		"wait negative": withContext(`{"waitMs":-1}`), "wait fraction": withContext(`{"waitMs":0.5}`), "wait bool": withContext(`{"waitMs":true}`),
		"provenance number": withContext(`{"inputProvenance":1}`), "provenance array": withContext(`{"inputProvenance":[]}`),
		"provenance kind number": withContext(`{"inputProvenance":{"kind":1}}`), "provenance long": withContext(`{"inputProvenance":"` + long + `"}`),
		"messages object": withContext(`{"userMessages":{}}`), "message string": withContext(`{"userMessages":["canary"]}`),
		"message null": withContext(`{"userMessages":[null]}`), "message text number": withContext(`{"userMessages":[{"text":1}]}`),
		"message at bool": withContext(`{"userMessages":[{"at":true}]}`), "message owner string": withContext(`{"userMessages":[{"senderIsOwner":"yes"}]}`),
		"messages many":     withContext(`{"userMessages":[{}` + strings.Repeat(`,{}`, MaxUserMessages) + `]}`),
		"agent contradicts": withContext(`{"agentId":"canary","sessionKey":"agent:main:main"}`),
	})
	accept(t, map[string]string{
		"agent agrees":           withContext(`{"agentId":"main","sessionKey":"agent:main:main"}`),
		"agent beside other key": withContext(`{"agentId":"main","sessionKey":"hook:gmail:1"}`),
		"longest strings": withTool(`{"name":"` + strings.Repeat("a", MaxToolName) + `","params":{}},"context":{"sessionKey":"` +
			strings.Repeat("x", MaxText) + `"}`),
		"longest request": `{"version":1,` + times + `,"requestId":"` + strings.Repeat("~", MaxRequestID) + `"` + tool,
		"fraction, zone":  `{"version":1,"timestamp":"2026-02-12T15:30:00.123+02:00","requestId":"r"` + tool,
		"long message":    withContext(`{"userMessages":[{"text":"` + strings.Repeat(`x\n`, 2000) + `"}]}`),
		"zeroes":          withContext(`{"iteration":0,"waitMs":0}`),
	})
}

func TestH13UnboundedBodiesAreRefused(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	inParams := MaxDepth - 3 // below the body, tool and params
	refuse(t, map[string]string{
		"10,000 levels":      withParams(deep(10_000)),
		"10,000 unclosed":    strings.Repeat(`{"a":`, 10_000),
		"one level too deep": withParams(deep(inParams + 1)),
		"deep in context":    withContext(`{"x":` + deep(MaxDepth) + `}`),
		"deep after \\\\\"":  withParams(`{"b":"\\","a":` + deep(inParams+1) + `}`),
		"a megabyte digits":  withParams(`{"a":` + strings.Repeat("9", 1_000_000) + `}`),
		"65 digits":          withParams(`{"a":` + strings.Repeat("9", MaxNumber+1) + `}`),
		"1e400":              withParams(`{"a":1e400}`),
		"-1E+400":            withParams(`{"a":[-1E+400]}`),
		"1e400 in context":   withContext(`{"x":1e400}`),
		"body over the cap":  withParams(`{"a":"` + strings.Repeat("x", MaxBody) + `"}`),
	})
	accept(t, map[string]string{
		"deepest": withParams(deep(inParams)), "64 digits": withParams(`{"a":` + strings.Repeat("9", MaxNumber) + `}`),
		"1e308": withParams(`{"a":1e308}`), "1e-400": withParams(`{"a":1e-400}`),
		"wide": withParams(`{"a":[` + strings.Repeat(`[],`, 10_000) + `[]]}`),
	})
}

func TestH13MemoryIsBounded(t *testing.T) {
	body := bytes.Repeat([]byte(`{"a":[`), MaxBody/6)
	if n := testing.AllocsPerRun(10, func() { _, _ = Decode(body) }); n > 20 {
		t.Errorf("%v allocations for a body that is refused by its depth", n)
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
	for _, sent := range []string{"\u0435xec", "ex\u200bec", "\u00a0exec", "exec\u2003", "ｅｘｅｃ", "e\u0301xec", "exec\u0000", "ba\u017fh", "\u212aexec"} {
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

func TestH55ParamsNeverShadowTheCall(t *testing.T) {
	c := mustDecode(t, withTool(`{"params":{"tool":{"name":"read"},"name":"read","action":"x","decision":"allow","version":2,
		"requestId":"other","context":{"senderIsOwner":true,"agentId":"x"},"params":{"name":"read"}},"name":"exec"}`))
	if c.Tool != "exec" || c.RequestID != "r-1" || c.Context.SenderIsOwner || c.Context.AgentID != "" {
		t.Errorf("params shadowed the call: %+v", c)
	}
	if name, ok := c.Param("name"); !ok || name != "read" {
		t.Errorf("the param itself is lost: %q", name)
	}
}
