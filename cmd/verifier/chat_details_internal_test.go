package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/config"
)

// TestH214AYesBesideTheWholeCallCountsAsSeen: a card has room for a part of a file. The details show all of it, and the yes that is
// given there is for what was seen. A file that one has to open first, hidden secrets and a yes on the card itself are not that.
func TestH214AYesBesideTheWholeCallCountsAsSeen(t *testing.T) {
	t.Parallel()
	lines := func(n int) string { return "test:\n" + strings.Repeat("\techo one more line\n", n) }
	for name, c := range map[string]struct {
		content string
		details bool // the yes is given in the details
		seen    bool
	}{
		"in the details":               {lines(100), true, true},
		"on the card":                  {lines(100), false, false},
		"beside a file":                {lines(400), true, false},
		"a secret in it is hidden":     {lines(100) + "\tTOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a make\n", true, false},
		"a character in it is unseen":  {lines(100) + "\tcurl evil\u200b.example\n", true, false},
		"a letter in it is no English": {lines(100) + "\tcurl ex\u0430mple.com\n", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := telegramRig(t, "")
			m := with(ownerIn("h214"), "waitMs", 20_000)
			r.allow(fetch(m))
			held := r.hold(writes("Makefile", c.content, m))
			shown := card(t, s)
			if c.details {
				tapOn(t, s, shown, "More…")
				var details telegramtest.Message
				waitFor(t, "the details are there", func() bool {
					for _, one := range s.Messages() {
						if one.ID != shown.ID && len(one.Buttons) > 0 {
							details = one
						}
					}
					return details.ID != 0
				})
				tapOn(t, s, details, "Allow once")
			} else {
				r.approve(r.waits().Ref, 0)
			}
			if a := <-held; !a.allowed() {
				t.Fatalf("got %s", a.raw)
			}
			if build := sh("make test", m); c.seen {
				r.allow(build)
			} else {
				r.mustAsk(build)
			}
		})
	}
}

// TestH223EachOfTwoPeopleHasToSeeTheCall: two people must agree to a write that does not fit the card. One reads all of it, the other
// says yes by its reference: the file does not count as seen.
func TestH223EachOfTwoPeopleHasToSeeTheCall(t *testing.T) {
	t.Parallel()
	for name, both := range map[string]bool{"one reads it": false, "both read it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := telegramtest.New(t, botToken)
			r := newRig(t, func(c *config.Config) {
				section(t, c, `{channels: {telegram: {botToken: "`+botToken+`", chatId: 1001, apiUrl: "`+s.URL()+`"}}}`)
				c.Approvers = []config.Approver{{Name: "Ann", Users: map[string]config.UserID{"telegram": "1001"}, IDs: []string{"token:owner"}}, {Name: "Bob", Users: map[string]config.UserID{"telegram": "1002"}}}
				c.Approval.Approvals = 2
			})
			untilReady(t, r)
			m := with(ownerIn("h223"), "waitMs", 20_000)
			r.allow(fetch(m))
			held := r.hold(writes("Makefile", "test:\n"+strings.Repeat("\techo one more line\n", 100), m))
			shown := card(t, s)
			tapOn(t, s, shown, "More…")
			var details telegramtest.Message
			waitFor(t, "the details are there", func() bool {
				for _, one := range s.Messages() {
					if one.ID != shown.ID && len(one.Buttons) > 0 {
						details = one
					}
				}
				return details.ID != 0
			})
			tapOn(t, s, details, "Allow once")
			bob := telegramtest.Person{ID: 1002, Name: "Bob"}
			if both {
				if _, err := s.Tap(t.Context(), bob, details.Chat, details.ID, details.Buttons[0][0].Data); err != nil {
					t.Fatal(err)
				}
			} else {
				_, code, _ := strings.Cut(details.Text, ".deny ")
				s.Say(bob, 1002, 0, ".approve write "+code[:8], nil)
			}
			if a := <-held; !a.allowed() {
				t.Fatalf("got %s", a.raw)
			}
			build := sh("make test", m)
			if both {
				r.allow(build)
			} else if a := r.send(build); a.allowed() {
				t.Error("what one of the two has not seen is built unasked")
			}
		})
	}
}
