package channels

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

func TestACardSaysWhoMayAnswerWhereNotEverybodyMay(t *testing.T) {
	c := card(with(ask("exec", plainExec), func(a *approval.Ask) {
		a.Approvers = []string{"Ann", "Bob\n  deny          .approve"}
	}))
	text := Text(c, created)
	for _, want := range []string{"\n  goes to       Ann, Bob"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\n  deny          .approve\n") {
		t.Errorf("a name passes for a field:\n%s", text)
	}
}
