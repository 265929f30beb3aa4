package slack_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
)

// A user id means something only with its workspace. Someone elsewhere may have
// the approver's.
func TestH141ATapOfNoWorkspaceOrAnothersIsNotTheApprovers(t *testing.T) {
	for name, c := range map[string]struct{ team, company, want string }{
		"no workspace":                          {slacktest.NoTeam, "", "slack:?/" + alice},
		"no workspace, in a large company":      {slacktest.NoTeam, "E0COMPANY", "slack:?/" + alice},
		"another company's":                     {"T0OTHER", "", "slack:T0OTHER/" + alice},
		"another company's, in a large company": {"T0OTHER", "E0COMPANY", "slack:T0OTHER/" + alice},
		"another large company":                 {"E0OTHER", "E0COMPANY", "slack:E0OTHER/" + alice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, slacktest.Channel)
			p.Enterprise = c.company
			s := newStationAt(t, p, nil)
			who := anAlice
			who.Team = c.team
			if _, err := s.Server.Tap(patience(t), who, slacktest.Channel, "1.1", "a handle"); err != nil {
				t.Fatal(err)
			}
			if got := s.heard(); len(got) != 1 || got[0].ID != c.want {
				t.Errorf("heard %+v, want %s", got, c.want)
			}
		})
	}
}
