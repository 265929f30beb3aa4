package approval_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/session"
)

const toBob = `{"to":[["to","bob"]],"with":["text","to"]}`

func TestItIsSaidWhatAYesToCallsLikeOneWouldCover(t *testing.T) {
	for what, l := range map[string]*approval.LikePreview{
		"There are no earlier answers to compare with.":                            {Tool: "message", Targets: []string{"to: bob"}, Minutes: 30, Level: "untrusted"},
		"Of the last 4 answers here it would have covered 2, all of them allowed.": {Tool: "message", Answers: 4, Allowed: 2},
		"Of the last 4 answers here it would have covered 4: 1 allowed, 3 DENIED":  {Tool: "message", Answers: 4, Allowed: 1, Denied: 3},
	} {
		if !strings.Contains(l.String(), what) {
			t.Errorf("%s", l)
		}
	}
}

func TestAGrantSaysWhereItsCallsGo(t *testing.T) {
	for like, want := range map[string]string{
		"":                              "",
		toBob:                           ` only to "to: bob"`,
		`{"to":[["to","b\nob\u202e"]]}`: ` only to "to: b\nob\u202e"`,
		"no JSON":                       " only to one destination",
		session.Exactly("5f70"):         " only exactly the call of " + codes.Ref("card"),
	} {
		if got := approval.LikeOnly(&session.Grant{ID: "card", Like: like}); got != want {
			t.Errorf("%q: %q", like, got)
		}
	}
}
