package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

const twoPeople = `approvers:
- {name: Ann, telegram: 1, ids: ["token:owner"]}
- {name: Bob, slack: U333}
channels: {telegram: {}, slack: {}}
`

func TestAnAgentsApproversAndChannelsLoad(t *testing.T) {
	c, findings := parse(t, twoPeople+`agents:
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
