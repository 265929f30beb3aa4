package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/approval"
)

const twoPeople = `approvers:
- {name: Ann, telegram: 1, ids: ["token:owner"]}
- {name: Bob, slack: U333}
channels: {telegram: {}, slack: {}}
`

func TestAnAgentsApproversAndChannelsLoad(t *testing.T) {
	c, findings := parse(t, twoPeople+`approval: {requesterMayApprove: true}
agents:
  main: {channels: [telegram, terminal], approvers: [Ann], maxIterations: 3}
  other: {}
`)
	want := map[string]approval.Agent{"main": {Channels: []string{"telegram", "terminal"}, Approvers: []string{"Ann"}}, "other": {}}
	if diff := cmp.Diff(want, c.AskedFor()); diff != "" || c.Policy.Agents["main"].MaxIterations != 3 {
		t.Error(diff)
	}
	if got := found(findings); strings.Contains(got, "agents.") {
		t.Errorf("findings: %s", got)
	}
}

func TestAgentsThatCannotBeMeantAreRefused(t *testing.T) {
	for _, tt := range []struct{ agent, want string }{
		{"channels: [telegrm]", "v.yaml:7:16: agents.main.channels[0]: is no channel\nhint: did you mean \"telegram\"? There are terminal, telegram, discord, slack"},
		{"channels: [discord]", "agents.main.channels[0]: is not configured\nhint: add channels.discord"},
		{"channels: []", "v.yaml:7:5: agents.main.channels: is empty"},
		{"approvers: []", "agents.main.approvers: is empty"},
		{"approvers: [Anne]", "v.yaml:7:17: agents.main.approvers[0]: is no approver's name\nhint: did you mean \"Ann\"? There are Ann, Bob"},
		{"approvers: ['telegram:1']", "agents.main.approvers[0]: is no approver's name"},
		{"approvers: [Ann]\napproval: {approvals: 2}", "v.yaml:7:5: agents.main.approvers: 2 people must approve and 1 may"},
		{"chanels: [telegram]", "agents.main.chanels: unknown key\nhint: did you mean \"channels\"?"},
	} {
		if got := refusals(t, twoPeople+"agents:\n  main:\n    "+tt.agent+"\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%swant\n%s", tt.agent, got, tt.want)
		}
	}
}

func TestAgentsThatAreRiskyAreTold(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"agents: {main: {channels: [slack], approvers: [Ann]}}", "agents.main.channels: none of those who may answer has an id on these channels"},
		{"approval: {requesterMayApprove: false}\nagents: {main: {approvers: [Ann]}}", "agents.main.approvers: when one of those who may answer has started the run, too few are left"},
	} {
		_, findings := parse(t, twoPeople+tt.text)
		if got := found(findings); !strings.Contains(got, tt.want) {
			t.Errorf("%s:\ngot %swant %s", tt.text, got, tt.want)
		}
	}
}
