package protocol

import (
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"testing"
)

func TestAgentComesFromTheContextOrTheKey(t *testing.T) {
	for _, tt := range []struct{ id, key, want string }{
		{"main", "", "main"}, {"main", "agent:main:main", "main"}, {"", "agent:work:telegram:group:1", "work"},
		{"", "agent:work", ""}, {"", "agent::main", ""}, {"", "hook:gmail:1", ""}, {"", "xagent:a:b", ""}, {"", "", ""},
	} {
		c := Call{Context: Context{AgentID: tt.id, SessionKey: tt.key}}
		if got := c.Agent(); got != tt.want {
			t.Errorf("id %q, key %q: got %q, want %q", tt.id, tt.key, got, tt.want)
		}
	}
}

func digestCall(params string) Call {
	return Call{Client: "laptop", Tool: "exec", Params: []byte(params),
		Context: Context{SessionKey: "agent:main:main", SessionID: "s1"}}
}

func digest(params string) string {
	c := digestCall(params)
	return c.Digest()
}

// The text whose hash this is stands in the comment: other implementations can
// check themselves against it.
func TestDigestIsTheHashOfTheCanonicalText(t *testing.T) {
	// {"agent":"main","client":"laptop","params":{"a":"é","id":1234567890123456789},"sessionId":"s1","sessionKey":"agent:main:main","tool":"exec"}
	const want = "0b407df8ac28ddffb90546d04a243108659a496261d87a636ec68eac6aa485b9"
	c := digestCall("{ \"id\" : 1234567890123456789,\n \"a\":\"\\u00e9\" }")
	if got := c.Digest(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestDigestIgnoresSpellingOnly(t *testing.T) {
	base := digest(`{"a":"é/","b":[1,{"c":null,"d":1.50}]}`)
	for _, same := range []string{
		` { "b" : [ 1 , { "d":1.50, "c":null } ] , "a":"é/" } `, `{"b":[1,{"c":null,"d":1.50}],"\u0061":"\u00e9\/"}`,
	} {
		if digest(same) != base {
			t.Errorf("%s has another digest", same)
		}
	}
}

func TestH28OneByteMakesAnotherDigest(t *testing.T) {
	seen := map[string]string{}
	for _, params := range []string{
		`{}`, `{"a":1}`, `{"a":"1"}`, `{"a":1.0}`, `{"a":null}`, `{"A":1}`, `{"a":[1]}`, `{"a":[[1]]}`, `{"a":" 1"}`,
		`{"id":1234567890123456789}`, `{"id":1234567890123456788}`, `{"id":12345678901234567890123456789012345678901}`,
		`{"id":12345678901234567890123456789012345678902}`, `{"a":0.10000000000000000001}`, `{"a":0.10000000000000000002}`,
		`{"a":"b","c":"d"}`, `{"a":"b\",\"c\":\"d"}`, `{"a":"x\u200by"}`, `{"a":"xy"}`, `{"a":"é"}`, `{"a":"e\u0301"}`,
		``, `{`, `{}{}`, `{},"tool":"read"`, `1,"tool":"read"`,
	} {
		d := digest(params)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s share a digest", params, other)
		}
		seen[d] = params
	}
}

func TestDigestCoversWhoAndWhere(t *testing.T) {
	seen := map[string]string{digest(`{}`): "base"}
	for name, change := range map[string]func(*Call){
		"client": func(c *Call) { c.Client = "phone" }, "tool": func(c *Call) { c.Tool = "read" },
		"key": func(c *Call) { c.Context.SessionKey = "agent:main:x" }, "session": func(c *Call) { c.Context.SessionID = "s2" },
		"agent": func(c *Call) { c.Context.AgentID = "other" }, "no session": func(c *Call) { c.Context.SessionID = "" },
		"directory":      func(c *Call) { c.Context.Directory = "/home/ann" },
		"invalid client": func(c *Call) { c.Client = "\xff" }, "other invalid client": func(c *Call) { c.Client = "\xfe" },
	} {
		c := digestCall(`{}`)
		change(&c)
		d := c.Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s share a digest", name, other)
		}
		seen[d] = name
	}
	c := digestCall(`{}`)
	c.RequestID, c.Sent, c.Context.RunID, c.Context.SenderIsOwner = "r", "BASH", "run", true
	if c.Digest() != digest(`{}`) {
		t.Error("a retry with another request id and run has another digest")
	}
}

func TestDigestLeavesTheParamsAlone(t *testing.T) {
	c := digestCall(`{ "b":1, "a":2 }`)
	c.Digest()
	if string(c.Params) != `{ "b":1, "a":2 }` {
		t.Errorf("params are now %s", c.Params)
	}
}

func TestStringsWalksKeysAndValuesInOrder(t *testing.T) {
	c := Call{Params: []byte(`{"path":"\u002fetc","edits":[{"newText":"x","n":1},["y",null]],"env":{"A.B":"z"},"":"e"}`)}
	var got []string
	for path, value := range c.Strings {
		got = append(got, path+"="+value)
	}
	want := []string{"path=path", "path=/etc", "edits=edits", "edits[0].newText=newText", "edits[0].newText=x",
		"edits[0].n=n", "edits[1][0]=y", "env=env", "env.A.B=A.B", "env.A.B=z", "=", "=e"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestStringsStopsWhenTold(t *testing.T) {
	c := Call{Params: []byte(`{"a":["b",{"c":"d"}],"e":"f"}`)}
	for stop := 1; stop <= 6; stop++ {
		n := 0
		c.Strings(func(string, string) bool { n++; return n < stop })
		if n != stop {
			t.Errorf("told to stop at %d, went to %d", stop, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		withParams(`{"command":"ls","id":1234567890123456789}`), withContext(`{"agentId":"a","iteration":1,"userMessages":[{"at":1}]}`),
		withTool(`{"name":"\u0065xec","params":{"a":[{"b":"\ud83d\ude00"},1e5,-0.5]}}`), `{}`, `{"version":1`, "\xff", withParams(`{"a":1e400}`),
		withParams(`{"command":"ls\n","id":-1.5,"a":[{},[true,null]]}`), withParams(`{"a":1,"a":2}`), withContext(`{"agentId":"a",}`),
		withContext(`{"later":{},"userMessages":[{"text":"x"},{}],"inputProvenance":{"kind":"k"}}`), withContext(`{"userMessages":[{},]}`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := Decode(body)
		if err != nil {
			if _, ok := errors.AsType[*Malformed](err); !ok {
				t.Fatalf("error %T", err)
			}
			return
		}
		checkDecoded(t, c)
	})
}

func checkDecoded(t *testing.T, c Call) {
	d := c.Digest()
	if raw, err := hex.DecodeString(d); err != nil || len(raw) != 32 {
		t.Fatal("the digest is no hash in hex")
	}
	if c.Tool != Canonical(c.Sent) || c.Tool == "" || c.Client != "" {
		t.Fatalf("tool %q, sent %q, client %q", c.Tool, c.Sent, c.Client)
	}
	spaced := c
	spaced.Params = c.Params.Clone()
	if err := spaced.Params.Indent(); err != nil || spaced.Digest() != d {
		t.Fatalf("white space changes the digest: %v", err)
	}
	longer, other := c, c
	longer.Params = withNumber(c, "1234567890123456789")
	other.Params = withNumber(c, "1234567890123456788")
	if longer.Digest() == other.Digest() || longer.Digest() == d {
		t.Fatal("the last digit of a long number does not change the digest")
	}
}

// withNumber wraps the params, since they may already have a member of any name.
func withNumber(c Call, n string) []byte {
	return []byte(`{"id":` + n + `,"params":` + string(c.Params) + `}`)
}

// Calls are remembered for longer than their bodies: nothing of one is part of the other.
func TestACallOwnsItsMemory(t *testing.T) {
	const text = `{"version":1,"timestamp":"2026-02-12T12:00:00Z","requestId":"r-1","tool":{"name":"web_fetch",` +
		`"params":{"url":"https://example.com/a"},"annotations":{"title":"Fetch"}},"context":{"agentId":"main",` +
		`"sessionKey":"agent:main:main","runId":"run-1","toolCallId":"t-1","senderId":"1","inputProvenance":"external_user",` +
		`"userMessages":[{"text":"look at it","senderId":"1","senderIsOwner":true,"at":1770897600}]}}`
	want, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(text)
	got, err := Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = '#'
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
