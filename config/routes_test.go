package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/approval"
)

const twoPeople = `approvers:
- {name: Ann, telegram: 1, ids: ["token:owner"]}
- {name: Bob, slack: U333}
channels: {telegram: {}, slack: {}}
`

func TestRoutesLoad(t *testing.T) {
	c, findings := parse(t, twoPeople+`approval:
  requesterMayApprove: false
  routes:
  - tools: [exec, bash]
    agents: [main]
    rules: [dangerous]
    channels: [telegram]
    approvers: [Ann]
    escalate:
    - {after: 10s, channels: [slack], approvers: [Bob]}
    - {after: 20, channels: [terminal]}
  - channels: [terminal]
`)
	want := []approval.Route{
		{
			Tools: []string{"exec", "bash"}, Agents: []string{"main"}, Rules: []string{"dangerous"},
			Channels: []string{"telegram"}, Approvers: []string{"Ann"},
			Escalate: []approval.Escalation{
				{After: 10 * time.Second, Channels: []string{"slack"}, Approvers: []string{"Bob"}},
				{After: 20 * time.Second, Channels: []string{"terminal"}},
			},
		},
		{Channels: []string{"terminal"}},
	}
	if diff := cmp.Diff(want, c.Approval.Routes); diff != "" || *c.Approval.RequesterMayApprove {
		t.Error(diff)
	}
	if got := found(findings); strings.Contains(got, "approval.") {
		t.Errorf("findings: %s", got)
	}
}

func TestRoutesThatCannotBeMeantAreRefused(t *testing.T) {
	for _, tt := range []struct{ route, want string }{
		{"channels: [telegrm]", "v.yaml:7:16: approval.routes[0].channels[0]: is no channel\nhint: did you mean \"telegram\"? There are terminal, telegram, discord, slack"},
		{"channels: [discord]", "approval.routes[0].channels[0]: is not configured\nhint: add channels.discord"},
		{"channels: []", "v.yaml:7:5: approval.routes[0].channels: is empty"},
		{"tools: []", "approval.routes[0].tools: is empty"},
		{"approvers: []", "approval.routes[0].approvers: is empty"},
		{"approvers: [Anne]", "v.yaml:7:17: approval.routes[0].approvers[0]: is no approver's name\nhint: did you mean \"Ann\"? There are Ann, Bob"},
		{"approvers: ['telegram:1']", "approval.routes[0].approvers[0]: is no approver's name"},
		{"rules: [dangerouss]", "approval.routes[0].rules[0]: is no rule that asks a person\nhint: did you mean \"dangerous\"?"},
		{"approvals: 3", "v.yaml:7:5: approval.routes[0].approvals: 3 people must approve and 2 may"},
		{"{approvals: 2, approvers: [Ann]}", "approval.routes[0].approvals: 2 people must approve and 1 may"},
		{"approvals: -1", "approval.routes[0].approvals: must be from 0 to 20"},
		{"{channels: [telegram], escalate: [{after: 0s, channels: [slack]}]}", "approval.routes[0].escalate[0].after: must be at least 1s"},
		{"{channels: [telegram], escalate: [{channels: [slack]}]}", "approval.routes[0].escalate[0].after: must be at least 1s"},
		{"{channels: [telegram], escalate: [{after: 30s, channels: [slack]}, {after: 30s, channels: [terminal]}]}", "approval.routes[0].escalate[1].after: comes no later than the step before, which is at 30s"},
		{"{channels: [telegram], escalate: [{after: 30m, channels: [slack]}]}", "approval.routes[0].escalate[0].after: never comes: a question expires after 30m0s"},
		{"{channels: [telegram], escalate: [{after: 30s}]}", "approval.routes[0].escalate[0].channels: is missing"},
		{"{channels: [telegram], escalate: [{after: 30s, channels: [telegram]}]}", "approval.routes[0].escalate[0].channels[0]: has the question already"},
		{"{channels: [telegram], escalate: [{after: 30s, channels: [slack], approvers: [Bob]}]}", "approval.routes[0].escalate[0].approvers: adds no person"},
		{"{escalate: [{after: 30s, channels: [slack]}]}", "approval.routes[0].escalate: has nowhere to go"},
		{"chanels: [telegram]", "approval.routes[0].chanels: unknown key\nhint: did you mean \"channels\"?"},
		{"{channels: [telegram], escalate: [{aftr: 30s, channels: [slack]}]}", "unknown key\nhint: did you mean \"after\"?"},
	} {
		if got := refusals(t, twoPeople+"approval:\n  routes:\n  - "+tt.route+"\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%swant\n%s", tt.route, got, tt.want)
		}
	}
}

func TestRoutesThatAreRiskyAreTold(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"approval: {routes: [{channels: [telegram]}, {tools: [exec]}]}", "warning 5:45: approval.routes[1]: is never reached"},
		{"approval: {routes: [{tools: [exce]}]}", "approval.routes[0].tools[0]: no tool we know has this name: did you mean exec?"},
		{"approval: {routes: [{channels: [slack], approvers: [Ann]}]}", "approval.routes[0]: none of those who may answer has an id on its channels"},
		{"approval: {routes: [{channels: [telegram], escalate: [{after: 30s, channels: [slack]}]}]}", "note 5:56: approval.routes[0].escalate[0].after: comes when a call that waits 25s has been denied"},
		{"approval: {requesterMayApprove: false, routes: [{approvals: 2}]}", "approval.routes[0]: when one of those who may answer has started the run, too few are left"},
	} {
		_, findings := parse(t, twoPeople+tt.text)
		if got := found(findings); !strings.Contains(got, tt.want) {
			t.Errorf("%s:\ngot %swant %s", tt.text, got, tt.want)
		}
	}
	_, findings := parse(t, twoPeople+"approval: {routes: [{tools: [bash, apply-patch, my_own_tool], channels: [telegram, slack]}]}")
	if got := found(findings); strings.Contains(got, "routes") {
		t.Errorf("findings: %s", got)
	}
}
