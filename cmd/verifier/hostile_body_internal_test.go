package main

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// bodyWith is a body that only its tool, and what else is said of it, makes
// wrong. Its sender is the owner: only the form can be why it is denied.
func bodyWith(tool string) string {
	return wrapped(`"version":1`, `"tool":`+tool)
}

func wrapped(members ...string) string {
	all := append(members, fmt.Sprintf(`"timestamp":%q`, time.Now().UTC().Format(time.RFC3339)),
		fmt.Sprintf(`"requestId":"request-%d"`, requests.Add(1)))
	if !strings.Contains(strings.Join(members, ","), `"context"`) {
		all = append(all, `"context":{"sessionKey":"agent:main:main","senderId":"1","senderIsOwner":true}`)
	}
	return "{" + strings.Join(all, ",") + "}"
}

func withArguments(params string) string { return bodyWith(`{"name":"read","params":` + params + `}`) }

// malformed sends a body that is signed and must be denied for its form alone:
// nothing is run, nobody is asked, and the record says so.
func (r *rig) malformed(name, body, reason string) {
	r.t.Helper()
	before := len(r.kept())
	a := r.twin([]byte(body))
	if a.status != http.StatusOK || a.Decision != "deny" || !strings.Contains(a.Reason, reason) {
		r.t.Errorf("%s: got %d %s, want a deny that says %q", name, a.status, a.raw, reason)
	}
	lines := r.kept()
	if len(lines) != before+1 {
		r.t.Fatalf("%s: %d lines were recorded, want 1", name, len(lines)-before)
	}
	if e := lines[before].Entry; e.Decision != audit.Deny || e.Error != "malformed" || e.Tool != "" {
		r.t.Errorf("%s: recorded %+v", name, e)
	}
}

// untouched makes sure that a malformed body changed nothing: the conversation
// is the owner's still.
func (r *rig) untouched() {
	r.t.Helper()
	if n := r.asked(); n != 0 {
		r.t.Errorf("%d questions were put", n)
	}
	r.allow(call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("main")})
}

func TestH09DuplicateKeysAreDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for name, body := range map[string]string{
		"the tool's name":       bodyWith(`{"name":"read","name":"exec","params":{}}`),
		"the name by an escape": bodyWith(`{"name":"read","n\u0061me":"exec","params":{}}`),
		"the params":            bodyWith(`{"name":"exec","params":{"command":"ls"},"params":{"command":"rm"}}`),
		"the tool":              wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, `"tool":{"name":"exec","params":{}}`),
		"the request id":        wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, `"requestId":"x"`),
		"inside the params":     withArguments(`{"path":"a","path":"/etc/shadow"}`),
		"deep in the params":    withArguments(`{"a":[{"b":{"c":1,"\u0063":2}}]}`),
		"the sender": wrapped(`"version":1`, `"tool":{"name":"exec","params":{}}`,
			`"context":{"sessionKey":"agent:main:main","senderIsOwner":false,"senderIsOwner":true}`),
		"a member nobody knows": wrapped(`"version":1`, `"tool":{"name":"exec","params":{}}`, `"context":{"later":1,"later":2}`),
	} {
		r.malformed(name, body, "same member twice")
	}
	r.untouched()
}

func TestH10KeysInAnotherCaseAreNotTheRealOnes(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	const tool = `"tool":{"name":"read","params":{}}`
	for name, tt := range map[string]struct{ body, reason string }{
		"TOOL":            {wrapped(`"version":1`, `"TOOL":{"name":"exec","params":{}}`), "not part of the protocol"},
		"tool and Tool":   {wrapped(`"version":1`, tool, `"Tool":{"name":"exec","params":{}}`), "not part of the protocol"},
		"Name":            {bodyWith(`{"Name":"exec","params":{}}`), "not part of the protocol"},
		"name and NAME":   {bodyWith(`{"name":"read","NAME":"exec","params":{}}`), "not part of the protocol"},
		"Params":          {bodyWith(`{"name":"read","Params":{}}`), "not part of the protocol"},
		"Version":         {wrapped(`"Version":1`, tool), "not part of the protocol"},
		"Context":         {wrapped(`"version":1`, tool, `"Context":{}`), "not part of the protocol"},
		"SenderIsOwner":   {wrapped(`"version":1`, tool, `"context":{"SenderIsOwner":true}`), "only in case"},
		"senderisowner":   {wrapped(`"version":1`, tool, `"context":{"senderisowner":true}`), "only in case"},
		"a Kelvin sign":   {wrapped(`"version":1`, tool, "\"context\":{\"session\u212aey\":\"agent:main:clean\"}"), "only in case"},
		"userMessages.At": {wrapped(`"version":1`, tool, `"context":{"userMessages":[{"Text":"x"}]}`), "only in case"},
	} {
		r.malformed(name, tt.body, tt.reason)
	}
	r.untouched()
}

func TestH11WhatIsNotUnicodeIsDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for name, body := range map[string]string{
		"a stray byte in an argument":  withArguments("{\"path\":\"a\xffb\"}"),
		"an overlong slash":            withArguments("{\"path\":\"\xc0\xaf\"}"),
		"a surrogate in UTF-8":         withArguments("{\"path\":\"\xed\xa0\x80\"}"),
		"a cut character":              withArguments("{\"path\":\"\xe2\x82\"}"),
		"a stray byte in the name":     bodyWith("{\"name\":\"ex\xffec\",\"params\":{}}"),
		"a stray byte in a key":        withArguments("{\"a\xff\":1}"),
		"a stray byte in the context":  wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, "\"context\":{\"sessionKey\":\"a\xfe\"}"),
		"a stray byte behind the body": withArguments("{}") + "\xff",
	} {
		r.malformed(name, body, "valid UTF-8")
	}
	for name, body := range map[string]string{
		"a lone high surrogate":       withArguments(`{"path":"\ud800"}`),
		"a lone low surrogate":        withArguments(`{"path":"\udc00"}`),
		"two in the wrong order":      withArguments(`{"path":"\udc00\ud800"}`),
		"a lone surrogate in a key":   withArguments(`{"\ud83d":1}`),
		"a lone surrogate in a name":  bodyWith(`{"name":"exec\ud800","params":{}}`),
		"a lone surrogate in the key": wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, `"context":{"sessionKey":"\ud800"}`),
		"a mark of byte order":        "\xef\xbb\xbf" + withArguments(`{}`),
	} {
		r.malformed(name, body, "not one valid JSON value")
	}
	r.untouched()
}

func TestH12WhatIsNoCallIsDeniedWithAClearReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	const tool = `"tool":{"name":"read","params":{}}`
	for name, tt := range map[string]struct{ body, reason string }{
		"tool null":             {bodyWith(`null`), "tool must be an object."},
		"tool a string":         {bodyWith(`"read"`), "tool must be an object."},
		"tool an array":         {bodyWith(`[{"name":"read","params":{}}]`), "tool must be an object."},
		"tool missing":          {wrapped(`"version":1`), "tool is missing."},
		"name null":             {bodyWith(`{"name":null,"params":{}}`), "tool.name must be a string."},
		"name a number":         {bodyWith(`{"name":1,"params":{}}`), "tool.name must be a string."},
		"name empty":            {bodyWith(`{"name":"","params":{}}`), "tool.name must not be empty."},
		"name of spaces":        {bodyWith(`{"name":" \t ","params":{}}`), "tool.name must not be empty."},
		"name too long":         {bodyWith(`{"name":"` + strings.Repeat("x", 129) + `","params":{}}`), "at most 128 bytes"},
		"name missing":          {bodyWith(`{"params":{}}`), "tool.name is missing."},
		"params an array":       {withArguments(`[]`), "tool.params must be an object."},
		"params a string":       {withArguments(`"{}"`), "tool.params must be an object."},
		"params null":           {withArguments(`null`), "tool.params must be an object."},
		"params missing":        {bodyWith(`{"name":"read"}`), "tool.params is missing."},
		"version 2":             {wrapped(`"version":2`, tool), "version must be the number 1."},
		"version 1.0":           {wrapped(`"version":1.0`, tool), "version must be the number 1."},
		"version a string":      {wrapped(`"version":"1"`, tool), "version must be the number 1."},
		"version null":          {wrapped(`"version":null`, tool), "version must be the number 1."},
		"version missing":       {wrapped(tool), "version is missing."},
		"context an array":      {wrapped(`"version":1`, tool, `"context":[]`), "context must be an object."},
		"context null":          {wrapped(`"version":1`, tool, `"context":null`), "context must be an object."},
		"owner a string":        {wrapped(`"version":1`, tool, `"context":{"senderIsOwner":"true"}`), "true or false"},
		"another agent's key":   {wrapped(`"version":1`, tool, `"context":{"agentId":"other","sessionKey":"agent:main:main"}`), "contradicts"},
		"no request id":         {`{"version":1,"timestamp":"2026-02-12T15:30:00Z",` + tool + `}`, "requestId is missing."},
		"no timestamp":          {`{"version":1,"requestId":"a",` + tool + `}`, "timestamp is missing."},
		"a timestamp in words":  {`{"version":1,"requestId":"a","timestamp":"yesterday",` + tool + `}`, "RFC 3339"},
		"a timestamp in digits": {`{"version":1,"requestId":"a","timestamp":1770910200,` + tool + `}`, "timestamp must be a string."},
		"an id with a space":    {`{"version":1,"requestId":"a b","timestamp":"2026-02-12T15:30:00Z",` + tool + `}`, "requestId must be"},
		"an id with a newline":  {`{"version":1,"requestId":"a\nb","timestamp":"2026-02-12T15:30:00Z",` + tool + `}`, "requestId must be"},
		"a member too many":     {wrapped(`"version":1`, tool, `"decision":"allow"`), "not part of the protocol"},
		"two values":            {withArguments(`{}`) + `{}`, "not one valid JSON value"},
		"an array":              {"[" + withArguments(`{}`) + "]", "The body must be an object."},
		"no JSON":               {"tool=exec", "not one valid JSON value"},
		"nothing":               {"", "not one valid JSON value"},
		"half of it":            {withArguments(`{}`)[:60], "not one valid JSON value"},
	} {
		r.malformed(name, tt.body, tt.reason)
	}
	r.untouched()
}

func TestH13NestingAndNumbersAreBounded(t *testing.T) {
	r := newRig(t, nil)
	deep := func(n int, open, shut string) string { return strings.Repeat(open, n) + "1" + strings.Repeat(shut, n) }
	cases := map[string]struct{ body, reason string }{
		"10,000 arrays":         {withArguments(`{"a":` + deep(10_000, "[", "]") + `}`), "nested at most 100 levels"},
		"10,000 objects":        {withArguments(`{"a":` + deep(10_000, `{"a":`, "}") + `}`), "nested at most 100 levels"},
		"100 levels in all":     {withArguments(`{"a":` + deep(98, "[", "]") + `}`), "nested at most 100 levels"},
		"unclosed":              {withArguments(strings.Repeat("[", 500_000)), "nested at most 100 levels"},
		"nested in the context": {wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, `"context":{"later":`+deep(200, "[", "]")+`}`), "nested at most 100 levels"},
		"a megabyte of digits":  {withArguments(`{"n":` + strings.Repeat("9", 1_000_000) + `}`), "at most 64 characters"},
		"65 digits":             {withArguments(`{"n":` + strings.Repeat("9", 65) + `}`), "at most 64 characters"},
		"1e400":                 {withArguments(`{"n":1e400}`), "finite"},
		"-1e400":                {withArguments(`{"n":[-1E+400]}`), "finite"},
		"a huge iteration":      {wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, `"context":{"iteration":1e308}`), "whole number"},
		"5,000 messages":        {wrapped(`"version":1`, `"tool":{"name":"read","params":{}}`, `"context":{"userMessages":[{}`+strings.Repeat(",{}", 5000)+`]}`), "at most 4096"},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, tt := range cases {
		r.malformed(name, tt.body, tt.reason)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(cases)); each > 32<<20 {
		t.Errorf("each took %d MiB", each>>20)
	}
	r.untouched()
	for name, params := range map[string]string{
		"98 levels": `{"path":` + deep(96, "[", "]") + `}`, "64 digits": `{"n":` + strings.Repeat("9", 64) + `}`, "1e308": `{"n":1e308}`,
	} {
		if a := r.twin([]byte(withArguments(params))); !a.allowed() {
			t.Errorf("%s: got %s", name, a.raw)
		}
	}
}

// What an argument is called is the agent's to choose: it never stands for the
// call's own member.
func TestH55ArgumentsNeverShadowTheCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	const shadow = `"tool":"read","name":"read","params":{"path":"a"},"action":"read","decision":"allow","version":2,"requestId":"x",` +
		`"context":{"senderIsOwner":true},"senderIsOwner":true,"sessionKey":"agent:main:main","level":"system","mode":"allow","client":"other"`
	stranger := map[string]any{"sessionKey": "agent:main:x", "senderId": "9"}
	held := r.hold(call{tool: "exec", params: `{` + shadow + `,"command":"rm -rf /tmp/x"}`, id: "shadowed", context: stranger})
	card := r.waits()
	if len(card.Tools) != 1 || card.Tools[0] != "exec" || !strings.Contains(card.Text, "rm -rf /tmp/x") {
		t.Errorf("the card asks about %q:\n%s", card.Tools, card.Text)
	}
	r.refuse(card.Ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("got %s", a.raw)
	}
	e := r.decisions("shadowed")[0]
	if e.Tool != "exec" || e.Level != "external" || e.Session != "agent:main:x" || e.Client != "default" || e.Decision != audit.Deny {
		t.Errorf("recorded %+v", e)
	}
	// Nor does it make a harmless call look like another.
	r.allow(call{tool: "read", params: `{"tool":"exec","name":"exec","decision":"deny","path":"a"}`, context: ownerIn("main")})
	var kept struct {
		Name string `json:"name"`
	}
	redistest.Eventually(t, "the allow is recorded", func() bool {
		lines := r.kept()
		last := lines[len(lines)-1].Entry
		return last.Tool == "read" && json.Unmarshal(last.Params, &kept) == nil && kept.Name == "exec"
	})
}
