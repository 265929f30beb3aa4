package channels

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// size is what a document takes at least on any platform.
func size(d *Document) int {
	n := len([]rune(d.Title)) + len(d.Line())
	for _, b := range d.Blocks {
		n += len([]rune(b.Label)) + len([]rune(b.Text)) + 3
	}
	return n
}

// monster is the largest card that can be: twenty calls, each as long as it may
// be, from different places, answered by many.
func monster() *approval.Card {
	c := card()
	for i := range 20 {
		long := strings.Repeat("ж", 150) + fmt.Sprint(i)
		a := ask(long, fmt.Sprintf(`{"command":%q,"url":%q,"path":%q,"to":%q,"message":%q,"x":%q,"\u202e":1}`, long, long, long, long, long, long))
		a.Agent, a.SessionKey, a.Started, a.Said, a.Sent, a.Hidden, a.Approvals = long, long, long, []string{long}, long, 3, 20
		a.Why = []string{long, long, long, long, long}
		q := approval.Question{Ask: a}
		for j := range 19 {
			q.Votes = append(q.Votes, approval.Vote{Person: fmt.Sprint(j, long), Via: "telegram", Allow: true, At: created})
		}
		c.Questions = append(c.Questions, q)
	}
	return c
}

func denyAll(c *approval.Card) *approval.Card {
	for i := range c.Questions {
		c.Questions[i].Votes = []approval.Vote{{Person: strings.Repeat("p", 300), Via: "slack", Reason: strings.Repeat("r", 300) + fmt.Sprint(i), At: created}}
	}
	return c
}

func TestTheShortestDocumentHasRoomEverywhere(t *testing.T) {
	const least = 3000 // characters that every platform has room for
	all := cards()
	all["monster"] = monster()
	for name, c := range all {
		for _, o := range []*approval.Outcome{nil, {State: approval.Open, Text: strings.Repeat("x", 1000)}, {State: approval.Expired}, {State: approval.Denied}} {
			if n := size(document(c, o, created, &rooms[len(rooms)-1])); n > least {
				t.Errorf("%s: %d characters", name, n)
			}
		}
	}
	if d := document(denyAll(monster()), &approval.Outcome{State: approval.Denied}, created, &rooms[len(rooms)-1]); size(d) > least {
		t.Errorf("denied: %d characters", size(d))
	}
}

func TestH39WhatWasShortenedForAPlatformHasNoButtonThatAllows(t *testing.T) {
	long := card(ask("exec", command(strings.Repeat("echo x; ", 200)+"rm -rf ~")))
	for room := range rooms {
		d := document(long, nil, created, &rooms[room])
		allows := false
		for _, b := range d.Buttons {
			allows = allows || b.Allows
		}
		if whole := strings.Contains(Whole(d), strings.Repeat("echo x; ", 3)) && !d.Cut; allows != d.Full || d.Full == d.Cut || d.Full != whole || d.Full != (room == 0) {
			t.Errorf("room %d: full %v, cut %v, allows %v", room, d.Full, d.Cut, allows)
		}
		if !strings.Contains(Whole(d), "rm -rf ~") {
			t.Errorf("room %d: the end is not shown", room)
		}
	}
}

func TestDetailsLeaveNothingOut(t *testing.T) {
	c := card(ask("exec", command(strings.Repeat("echo x; ", 20_000)+"rm -rf ~")))
	d := Details(c, created)
	if d.Cut || len(d.Typed) > 0 || !strings.Contains(Whole(d), "rm -rf ~") || strings.Contains(Whole(d), c.Code) {
		t.Errorf("cut %v, typed %v", d.Cut, d.Typed)
	}
	if len(d.Buttons) != 2 || d.Buttons[0].Action != approval.AllowSeen || d.Buttons[1].Action != approval.DenyCall {
		t.Errorf("buttons %+v", d.Buttons)
	}
	if late := Details(c, c.Until()); len(late.Buttons) > 0 {
		t.Errorf("buttons of an expired card: %+v", late.Buttons)
	}
}

func TestDetailsNameTheCommandsThatMayBeAllowed(t *testing.T) {
	for name, want := range map[string]string{"exec": "", "kind": `Allow "git log" that writes out.txt, 30 min`, "message": ""} {
		label := ""
		for _, b := range Details(cards()[name], created).Buttons {
			if b.Action == approval.AllowMinutes {
				label = b.Label
			}
		}
		if label != want {
			t.Errorf("%s: %q, want %q", name, label, want)
		}
	}
	hidden := with(cards()["kind"].Questions[0].Ask, func(a *approval.Ask) { a.Hidden = 1 })
	for _, d := range []*Document{Details(card(hidden), created), document(card(hidden), nil, created, &normal)} {
		if slices.ContainsFunc(d.Buttons, func(b Button) bool { return b.Action == approval.AllowMinutes || b.Action == approval.AllowExactly }) {
			t.Errorf("a call that is not wholly visible: %+v", d.Buttons)
		}
	}
}

func TestButtons(t *testing.T) {
	full := []string{"Allow once", "Exactly this, 30 min", "Deny", "Deny & say why", "Details"}
	for name, want := range map[string][]string{
		"message": {"Allow once", "Allow 30 min", "Deny", "Deny & say why", "Details"},
		"exec":    full, "kind": full, "two-approvals": full, "spawned": nil,
		"not-lasting":       {"Allow once", "Deny", "Deny & say why", "Details"},
		"hidden-file":       full[2:],
		"attack-h39-spaces": full[2:],
		"batch":             {"Allow all listed", "Deny all", "Show"},
	} {
		var got []string
		for _, b := range document(cards()[name], nil, created, &normal).Buttons {
			got = append(got, b.Label)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTheLineToCopyReachesFurthest(t *testing.T) {
	for name, want := range map[string]string{
		"exec": ".approve exec bf619df9 exactly 30", "kind": ".approve exec bf619df9 30", "message": ".approve message bf619df9 30", "hidden-file": ".approve write bf619df9", "batch": ".approve all bf619df9 10", "spawned": "",
	} {
		if got := document(cards()[name], nil, created, &normal).Line(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestASettledCardSaysHowItEnded(t *testing.T) {
	yes := approval.Vote{Person: "alice", Via: "telegram", Allow: true, At: created}
	no := approval.Vote{Person: "bob", Via: "slack", Reason: "use make", At: created}
	voted := func(votes ...approval.Vote) *approval.Card {
		c := card(ask("exec", plainExec), ask("exec", plainExec))
		for i := range c.Questions {
			c.Questions[i].Votes = votes[i : i+1]
		}
		return c
	}
	for _, x := range []struct {
		c     *approval.Card
		state approval.State
		want  string
	}{
		{voted(yes, yes), approval.Allowed, "Approved: 7Q4K"},
		{voted(no, no), approval.Denied, "Denied: 7Q4K"},
		{voted(no, yes), approval.Denied, "Answered: 7Q4K"},
		{voted(approval.Vote{Via: "verifier"}, approval.Vote{Via: "verifier"}), approval.Denied, "Withdrawn: 7Q4K"},
		{card(ask("exec", plainExec)), approval.Expired, "Expired: 7Q4K"},
	} {
		d := document(x.c, &approval.Outcome{State: x.state}, created.Add(time.Second), &normal)
		if d.Title != x.want || len(d.Buttons) > 0 || len(d.Typed) > 0 || strings.Contains(Whole(d), "bf619df9") {
			t.Errorf("%q, want %q:\n%s", d.Title, x.want, Whole(d))
		}
	}
}

func TestShowTakesTheLongestThatFits(t *testing.T) {
	c := card(ask("exec", command(strings.Repeat("echo x; ", 200))))
	for _, most := range []int{10_000, 2500, 1500, 1000, 10} {
		tried := 0
		got := Show(c, nil, created, func(d *Document) (*Document, bool) {
			tried++
			return d, size(d) <= most
		})
		if size(got) > most && tried < len(rooms) || tried > 1 && got.Full {
			t.Errorf("%d: %d characters after %d tries", most, size(got), tried)
		}
	}
}
