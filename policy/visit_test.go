package policy_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestH161WhatOnlyLooksAtAPageAsksNoMoreThanWebFetch(t *testing.T) {
	p := must(t, policy.Config{})
	for _, params := range []string{
		`{"action":"open","url":"https://example.com/a"}`, `{"action":"open","targetUrl":"http://example.com"}`,
		`{"action":"snapshot"}`, `{"action":"snapshot","targetId":"t1","snapshotFormat":"ai","maxChars":2000,"compact":true}`,
		`{"action":"navigate","targetId":"t1","url":"https://example.com/b"}`, `{"action":"tabs"}`, `{"action":"screenshot","fullPage":true}`,
	} {
		plan := p.Plan(call("browser", params))
		if got := modes(plan.Modes); got != "aaaaaa" || plan.Raise != untrusted || !plan.Leaves {
			t.Errorf("%s: %s, brings in %s, leaves %v", params, got, plan.Raise, plan.Leaves)
		}
		if v := p.Judge(call("browser", params), at(untrusted)); v.Mode != allow || v.Rule != "visit" {
			t.Errorf("%s is %s by %s", params, v.Mode, v.Rule)
		}
	}
	for _, params := range []string{
		`{}`, `{"action":"open"}`, `{"url":"https://example.com"}`, `{"action":"act","request":{"kind":"click","ref":"e1"}}`, `{"action":"Open","url":"https://x.example"}`,
		`{"action":"open","url":"https://bank.example","profile":"user"}`, `{"action":"snapshot","profile":"user"}`, `{"action":"open","url":"https://x.example","systemProfile":"Default"}`,
		`{"action":"open","url":"https://x.example","node":"phone"}`, `{"action":"open","url":"https://x.example","target":"host"}`, `{"action":"snapshot","browser":"chrome"}`,
		`{"action":"open","url":"javascript:fetch(1)"}`, `{"action":"open","url":"file:///home/ann/.ssh/id_rsa"}`, `{"action":"navigate","url":"https://x.example","targetUrl":"file:///x"}`,
		`{"action":"open","url":"https://x.example","fn":"() => fetch(1)"}`, `{"action":"snapshot","path":"/home/ann/x"}`, `{"action":"open","url":["https://x.example"]}`,
		`{"action":"open","url":"http://127.0.0.1:8080/"}`, `{"action":"open","url":"http://192.168.1.1/reboot"}`, `{"action":"navigate","url":"http://169.254.169.254/latest"}`, `{"action":"open","url":"http://[fe80::1]/"}`,
		`{"action":"open","url":"http://router/"}`, `{"action":"open","url":"http://nas.local/"}`, `{"action":"open","url":"http://2130706433/"}`, `{"action":"open","url":"http://10.1/"}`, `{"action":"open","url":"http://192.168.1.1.nip.io/"}`,
		`{"action":"open","url":"http://fritz.box/"}`, `{"action":"open","url":"http://nas.fritz.box/"}`, `{"action":"open","url":"http://api.default.svc/"}`, `{"action":"open","url":"http://api.svc.cluster/"}`, `{"action":"open","url":"http://x.onion/"}`,
		`{"action":"open","url":"http://1.0.0.10.in-addr.arpa/"}`, `{"action":"open","url":"http://10-0-0-1.sslip.io/"}`, `{"action":"open","url":"http://sslip.io/"}`, `{"action":"open","url":"http://10-0-0-1.dns.example/"}`, `{"action":"open","url":"http://app.192.168.1.1.dns.example/"}`,
		`{"action":"open","url":"https://x.example\\@127.0.0.1/"}`,
		`{"action":"upload","paths":["a"]}`, `{"action":"importprofile"}`, `{"action":"pdf"}`, `{"action":"evaluate"}`,
	} {
		if got := modes(p.Plan(call("browser", params)).Modes); got == "aaaaaa" {
			t.Errorf("%s passes in an untrusted conversation", params)
		}
	}
	strict := must(t, policy.Config{Profile: "strict"})
	if got := strict.Plan(call("browser", `{"action":"open","url":"https://x.example"}`)).Modes[untrusted]; got == allow {
		t.Error("the profile strict lets a tainted conversation open a page, and not fetch it")
	}
	for what, c := range map[string]policy.Config{
		"an override":     {ToolOverrides: map[string]policy.Override{"browser": {TaintPolicy: policy.TaintPolicy{Untrusted: on(restrict)}}}},
		"tools.sink":      {Tools: map[string]policy.Tool{"browser": {Sink: new(true)}}},
		"a trust rule":    {Trust: policy.Trust{Rules: []policy.TrustRule{{Tool: "browser", Action: "open", Sink: new(true)}}}},
		"an agent's rule": {Agents: map[string]policy.Agent{"main": {ToolOverrides: map[string]policy.Override{"browser": {Any: on(confirm)}}}}},
	} {
		if got := must(t, c).Plan(call("browser", `{"action":"open","url":"https://x.example"}`)).Modes[untrusted]; got == allow {
			t.Errorf("%s counts for nothing", what)
		}
	}
}

func TestH161WhatBringsNothingInIsNoWorseThanTheConversation(t *testing.T) {
	p := must(t, policy.Config{})
	for _, c := range []struct {
		tool, params string
		raise        taint.Level
	}{
		{"sessions_spawn", `{"task":"Count the files."}`, system},
		{"sessions_spawn", `{"task":"x","runtime":"subagent"}`, system},
		{"sessions_spawn", `{"task":"x","runtime":"acp"}`, shared},
		{"sessions_spawn", `{"task":"x","projectGitUrl":"https://x.example/y"}`, untrusted},
		{"sessions_yield", `{"message":"waiting"}`, system},
		{"sessions_list", `{}`, local},
		{"sessions_list", `{"limit":5,"messageLimit":0,"includeLastMessage":false}`, local},
		{"sessions_list", `{"messageLimit":1}`, external},
		{"sessions_list", `{"includeLastMessage":true}`, external},
		{"sessions_list", `{"includeDerivedTitles":true}`, external},
		{"sessions_list", `{"messageLimit":"3"}`, external},
		{"image", `{"image":"chart.png"}`, local},
		{"image", `{"images":["a.png","./out/b.png"],"prompt":"compare"}`, local},
		{"image", `{"image":"/home/ann/.openclaw/workspace/chart.png"}`, local},
		{"image", `{"path":"~/.openclaw/workspace/chart.png"}`, local},
		{"image", `{}`, external},
		{"image", `{"prompt":"what is this"}`, external},
		{"image", `{"image":"/home/ann/.openclaw/media/inbound/1.jpg"}`, external},
		{"image", `{"image":"../media/inbound/1.jpg"}`, external},
		{"image", `{"image":"/home/ann/.openclaw/workspace/../media/1.jpg"}`, external},
		{"image", `{"image":"chart.png","images":["/tmp/x.png"]}`, external},
		{"image", `{"image":"https://x.example/y.png"}`, untrusted},
		{"image", `{"image":"chart.png","images":["https://x.example/y.png"]}`, untrusted},
		{"image", `{"image":"media://inbound/1.jpg"}`, untrusted},
	} {
		if got := p.Plan(call(c.tool, c.params)).Raise; got != c.raise {
			t.Errorf("%s %s brings in %s, want %s", c.tool, c.params, got, c.raise)
		}
	}
	owned := must(t, policy.Config{Trust: policy.Trust{Tools: map[string]taint.Level{"image": external}}})
	if got := owned.Plan(call("image", `{"image":"chart.png"}`)).Raise; got != external {
		t.Errorf("image brings in %s, and the owner says external", got)
	}
	ruled := must(t, policy.Config{Trust: policy.Trust{Rules: []policy.TrustRule{{Tool: "image", Path: "downloads", Level: new(untrusted)}}}})
	if got := ruled.Plan(call("image", `{"path":"downloads/x.png"}`)).Raise; got != untrusted {
		t.Errorf("image of a download brings in %s, and the owner says untrusted", got)
	}
}
