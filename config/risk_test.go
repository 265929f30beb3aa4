package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func found(findings []config.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %d:%d: %v\n", f.Severity, f.Line, f.Col, f)
	}
	return b.String()
}

func TestH33AnEmptyApproverListApprovesNobody(t *testing.T) {
	c, findings := parse(t, "ownerToken: "+good+"\napprovers: []\n")
	if c.Approvers == nil || len(c.People()) != 0 {
		t.Errorf("people are %v", c.People())
	}
	want := "warning 2:1: approvers: no person can approve: every call that needs confirmation will be denied\n"
	if got := found(findings); got != want {
		t.Errorf("got %swant %s", got, want)
	}
}

func TestNoApproverListIsTheOwnerAlone(t *testing.T) {
	c, findings := parse(t, "ownerToken: "+good+"\n")
	if p := c.People(); len(p) != 1 || p[0].Name != "owner" || p[0].IDs[0] != "token:owner" {
		t.Errorf("people are %v", p)
	}
	if len(findings) != 0 {
		t.Errorf("findings: %s", found(findings))
	}
}

func TestWhatIsRisky(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "note 0:0: there is neither an ownerToken nor a list of approvers"},
		{"approval: {approvals: 2}", "warning 1:12: approval.approvals: 2 people must approve and 1 may: every call that needs confirmation will be denied"},
		{"approvers: [{name: a, ids: ['telegram:1']}]", "warning 1:13: approvers[0]: a can't be reached"},
		{"approvers: [{name: a, ids: ['telegram:1']}]\nchannels: {slack: {}}", "the list has no approver who can answer in the terminal"},
		{"approval: {maxMinutes: 600}", "approval.maxMinutes: a grant may last 600 minutes"},
		{"approvalTtlSeconds: 3600", "approvalTtlSeconds: a code may be guessed at for 1h0m0s"},
		{"webhook: {hold: 60s}", "note 1:11: webhook.hold: clients of the published protocol wait 30 seconds"},
		{"webhook: {relayApprovals: {default: [slack]}}", "note 1:28: webhook.relayApprovals.default: anyone who has this client's secret and a code can answer as an approver"},
		{"webhook: {relayApprovals: {default: [slack]}}", "warning 1:38: webhook.relayApprovals.default[0]: no approver has a slack id, so nothing from there counts"},
		{"insecurePublic: true\nlisten: ':8787'", "warning 1:1: insecurePublic: anyone on the way to this address reads secrets and codes"},
		{"trustedProxies: [0.0.0.0/0]", "warning 1:18: trustedProxies[0]: trusts everybody"},
		{"store: {url: 'redis://10.0.0.5:6379/0'}", "store.url: has no password"},
		{"store: {url: 'rediss://127.0.0.1,db.lan:6379'}", "store.url: has no password"},
		{"store: {url: 'redis://:pw@10.0.0.5:6379/0'}", "store.url: is not encrypted"},
		{"store: {url: 'redis://127.0.0.1:6379/0'}", "note 1:1: store: there is no store.key"},
		{"taint: {from: untrusted}", "taint.from: a conversation counts as tainted only once it has read the web"},
		{"profile: permissive", "profile: permissive asks only once"},
		{"taintPolicy: {shared: allow, external: allow, untrusted: allow}", "taintPolicy.untrusted: a conversation that holds untrusted content may call every tool"},
		{"maxIterations: 1000", "maxIterations: a loop may run 1000 times"},
		{"redact: {showFileBodies: false}", "redact.showFileBodies: cards don't show what is written to files"},
		{"caution: {tools: {browser: false}}", "warning 1:11: caution.tools: nothing follows from it without caution.auditor"},
		{"caution: {auditor: {provider: openai, model: m, baseUrl: 'http://10.0.0.9/v1'}}", "caution.auditor.baseUrl: what you asked your agent for goes over the network unencrypted"},
		{"caution: {auditor: {provider: openai, model: m, baseUrl: 'http://127.0.0.1/v1', failMode: allow}}", "caution.auditor.failMode: an attacker who keeps the auditor from answering gets past it"},
		{"caution: {auditor: {provider: openai, model: m, baseUrl: 'http://127.0.0.1/v1', mode: autoApprove}}", "caution.auditor.mode: a model may answer in your place in conversations that are shared or external or untrusted, where only that level asks"},
		{"profile: interactive\ncaution: {auditor: {provider: openai, model: m, baseUrl: 'http://127.0.0.1/v1', mode: autoApprove}}", "in conversations that are shared or external, where"},
		{"profile: permissive\ncaution: {auditor: {provider: openai, model: m, baseUrl: 'http://127.0.0.1/v1', mode: autoApprove}}", "in conversations that are untrusted, where"},
		{"profile: paranoid\ncaution: {auditor: {provider: openai, model: m, baseUrl: 'http://127.0.0.1/v1', mode: autoApprove}}", "autoApprove answers nothing under this policy"},
		// The policy's own words, with their places.
		{"trust:\n  unknownSender: owner", "warning 2:3: trust.unknownSender: a run whose sender we don't know counts as owner"},
		{"toolOverrides:\n  exec: {'*': allow}", "warning 2:3: toolOverrides.exec: exec passes unasked in a conversation that holds shared content; without this it would be confirm there"},
		{"toolOverrides:\n  exec: {'*': allow, external: allow, untrusted: allow}", "warning 2:3: toolOverrides.exec: exec acts outside, and passes unasked in a conversation tainted to untrusted"},
		{"scope:\n  include: [read]", "warning 1:1: scope: these tools act outside and pass unasked: "},
		{"toolOverrides:\n  read:\n    shared: confirm\n    external: allow", "so these levels were tightened"},
		{"scope:\n  exclude: [read, exce]", "warning 2:19: scope.exclude.exce: no tool we know has this name: did you mean exec?"},
	} {
		_, findings := parse(t, tt.text)
		if got := found(findings); !strings.Contains(got, tt.want) {
			t.Errorf("%s:\ngot %swant %s", tt.text, got, tt.want)
		}
	}
}

func TestWhatIsNotRisky(t *testing.T) {
	for _, text := range []string{
		"listen: 127.0.0.1:1", "listen: '[::1]:1'", "listen: localhost:1", "insecurePublic: true", "trustedProxies: [10.0.0.0/8]", "audit: {sync: none}", "webhook: {hold: 25s}",
		"store: {url: 'rediss://:pw@10.0.0.5:6379/0', key: 18d2a6c05b7f4e93b1c8027f5e9a6d4c18d2}",
		"store: {url: 'redis+sentinel://127.0.0.1:1,[::1]:2/main/0', key: 18d2a6c05b7f4e93b1c8027f5e9a6d4c18d2}",
		"approvers: [{name: a, ids: ['token:owner']}]",
	} {
		if _, findings := parse(t, "ownerToken: "+good+"\n"+text); len(findings) != 0 {
			t.Errorf("%s: %s", text, found(findings))
		}
	}
}
