package channels

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// size is what a document takes at least on any platform.
func size(d *Document) int {
	n := len([]rune(d.FirstLine()))
	for _, b := range d.Blocks {
		n += len([]rune(b.Label)) + len([]rune(b.Text)) + 3
	}
	return n
}

// monster is the largest card that can be, answered by many.
func monster() *approval.Card {
	long := strings.Repeat("ж", 150)
	a := ask(long, fmt.Sprintf(`{"command":%[1]q,"url":%[1]q,"path":%[1]q,"to":%[1]q,"message":%[1]q,"x":%[1]q,`+
		`"\u202e":1}`, long))
	a.Agent, a.SessionKey, a.Started, a.Sent, a.Said = long, long, long, long, []string{long}
	a.Hidden, a.Approvals, a.Why = 3, 20, []string{long, long, long, long, long}
	c := card(a)
	for j := range 19 {
		c.Votes = append(c.Votes, approval.Vote{Person: fmt.Sprint(j, long), Via: "telegram", Allow: true, At: created})
	}
	return c
}

func deniedAtLength(c *approval.Card) *approval.Card {
	c.Votes = []approval.Vote{{
		Person: strings.Repeat("p", 300), Via: "slack", Reason: strings.Repeat("r", 300), At: created,
	}}
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
	if d := document(deniedAtLength(monster()), &approval.Outcome{State: approval.Denied}, created,
		&rooms[len(rooms)-1]); size(
		d,
	) > least {
		t.Errorf("denied: %d characters", size(d))
	}
}

func TestH39WhatWasShortenedForAPlatformHasNoButtonThatAllows(t *testing.T) {
	long := card(ask("exec", command(strings.Repeat("echo x; ", 200)+"rm -rf ~")))
	for room := range rooms {
		d := document(long, nil, created, &rooms[room])
		allows := false
		for _, b := range d.Buttons {
			allows = allows || b.Action.Allows()
		}
		if whole := strings.Contains(Whole(d), strings.Repeat("echo x; ", 3)) && !d.Cut; allows != d.Full ||
			d.Full == d.Cut ||
			d.Full != whole ||
			d.Full != (room == 0) {
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
	if d.Cut || len(d.Typed) == 0 || !strings.Contains(Whole(d), "rm -rf ~") || !strings.Contains(Whole(d), c.Code) {
		t.Errorf("cut %v, typed %v", d.Cut, d.Typed)
	}
	if got := labelsOf(d); fmt.Sprint(got) != "[Allow once Deny]" || d.Buttons[0].Action != approval.AllowSeen {
		t.Errorf("buttons %q", got)
	}
	if late := Details(c, c.Ask.Until); len(late.Buttons) > 0 {
		t.Errorf("buttons of an expired card: %+v", late.Buttons)
	}
}

func TestDetailsNameTheCommandsThatMayBeAllowed(t *testing.T) {
	for name, want := range map[string]string{"exec": "", "kind": "Any exec, 30 min",
		"message": "Any message, 30 min"} {
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
	hidden := with(cards()["kind"].Ask, func(a *approval.Ask) { a.Hidden = 1 })
	for _, d := range []*Document{Details(card(hidden), created), document(card(hidden), nil, created, &normal)} {
		if slices.ContainsFunc(
			d.Buttons,
			func(b Button) bool { return b.Action == approval.AllowMinutes || b.Action == approval.AllowExactly },
		) {
			t.Errorf("a call that is not wholly visible: %+v", d.Buttons)
		}
	}
}

// labelsOf are what stands on the buttons, in their order.
func labelsOf(d *Document) (out []string) {
	for _, b := range d.Buttons {
		out = append(out, b.Label)
	}
	return out
}

// TestThreeButtonsInOneOrder: a card has the same three buttons everywhere; what can't be read wholly has none that
// allows.
func TestThreeButtonsInOneOrder(t *testing.T) {
	for name, want := range map[string]string{
		"message": "[Allow once Deny More…]", "exec": "[Allow once Deny More…]", "kind": "[Allow once Deny More…]", "not-lasting": "[Allow once Deny More…]",
		"two-approvals": "[Allow once Deny More…]", "hidden-file": "[Deny More…]", "attack-h39-spaces": "[Deny More…]",
		"spawned": "[]",
	} {
		if got := fmt.Sprint(labelsOf(document(cards()[name], nil, created, &normal))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestMoreHasEveryAnswer: behind More is each answer that the call can get, and none that it can't.
func TestMoreHasEveryAnswer(t *testing.T) {
	all := cards()
	all["same"] = card(with(ask("message", `{"to":"+15550100","message":"hello"}`), func(a *approval.Ask) {
		a.Same, a.Goes, a.TargetParams = "to", []string{"+15550100"}, []string{"to"}
	}))
	for name, want := range map[string]string{
		"message":     "Allow once|Deny|Exactly this, 30 min|Any message, this turn|Any message, 30 min",
		"same":        "Allow once|Deny|Exactly this, 30 min|Same recipients, 30 min|Same recipients, this turn",
		"exec":        "Allow once|Deny|Exactly this, 30 min|Exactly this, this turn",
		"kind":        "Allow once|Deny|Exactly this, 30 min|Any exec, this turn|Any exec, 30 min",
		"hidden-file": "Allow once|Deny", "not-lasting": "Allow once|Deny", "spawned": "",
	} {
		if got := strings.Join(labelsOf(Details(all[name], created)), "|"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestACardHasFewLinesBesideTheCall: everything but the literal call has room on one look.
func TestACardHasFewLinesBesideTheCall(t *testing.T) {
	const mostLines = 8
	for name, c := range cards() {
		d, lines := document(c, nil, created, &normal), 1
		for _, b := range d.Blocks {
			if b.Part != OfCall || b.Kind == Warning {
				lines += strings.Count(b.Text, "\n") + 1
			}
		}
		if lines > mostLines {
			t.Errorf("%s: %d lines\n%s", name, lines, Whole(d))
		}
		if strings.Contains(Whole(d), c.Code) {
			t.Errorf("%s: the code is on the card before More", name)
		}
	}
}

// TestMoreSaysWhatEachLineGrants: each typed line is behind a label of its own.
func TestMoreSaysWhatEachLineGrants(t *testing.T) {
	for name, want := range map[string]string{
		"exec": "allow once=.approve exec bf619df9;Exactly this, 30 min=.approve exec bf619df9 exactly 30;" +
			"Exactly this, this turn=.approve exec bf619df9 turn;deny (a reason may follow)=.deny bf619df9;",
		"message": "allow once=.approve message bf619df9;Exactly this, 30 min=.approve message bf619df9 exactly 30;" +
			"Any message, this turn=.approve message bf619df9 turn;Any message, 30 min=.approve message bf619df9 30;" +
			"deny (a reason may follow)=.deny bf619df9;",
		"hidden-file": "allow once=.approve write bf619df9;deny (a reason may follow)=.deny bf619df9;", "spawned": "",
	} {
		got := ""
		for _, b := range Details(cards()[name], created).Blocks {
			if b.Part == OfTyped {
				got += b.Label + "=" + b.Text + ";"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestASettledCardSaysHowItEnded(t *testing.T) {
	yes := approval.Vote{Person: "alice", Via: "telegram", Allow: true, At: created}
	no := approval.Vote{Person: "bob", Via: "slack", Reason: "use make", At: created}
	voted := func(v approval.Vote) *approval.Card {
		c := card(ask("exec", plainExec))
		c.Votes = []approval.Vote{v}
		return c
	}
	for _, x := range []struct {
		c     *approval.Card
		state approval.State
		want  string
	}{
		{voted(yes), approval.Allowed, "Approved"},
		{voted(no), approval.Denied, "Denied"},
		{voted(approval.Vote{Via: "verifier"}), approval.Denied, "Withdrawn"},
		{card(ask("exec", plainExec)), approval.Expired, "Expired"},
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

// TestAlwaysIsALinkToThePage: a chat shows it with the details of a call that it can be given for, and gives nothing
// itself.
func TestAlwaysIsALinkToThePage(t *testing.T) {
	c := card(ask("exec", `{"command":"date"}`))
	a := &c.Ask
	a.Always = "exact abc"
	if d := Details(c, created).LinkTo("https://page/", c); d.Link != "https://page/"+c.ID || d.LinkTitle != AlwaysLabel {
		t.Errorf("its details lead to %q as %q", d.Link, d.LinkTitle)
	}
	if d := Details(c, created).LinkTo("", c); d.Link != "" {
		t.Errorf("without a page: %q", d.Link)
	}
	for _, other := range []approval.Ask{{Always: "exact abc"}, {Lasting: true}} {
		a.Always, a.Lasting = other.Always, other.Lasting
		if Details(c, created).LinkTo("https://page/", c).LinkTitle == AlwaysLabel {
			t.Errorf("it is offered for %+v", other)
		}
	}
}
