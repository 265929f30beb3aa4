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
	n := len([]rune(d.FirstLine()))
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
		a := ask(
			long,
			fmt.Sprintf(
				`{"command":%q,"url":%q,"path":%q,"to":%q,"message":%q,"x":%q,"\u202e":1}`,
				long,
				long,
				long,
				long,
				long,
				long,
			),
		)
		a.Agent, a.SessionKey, a.Started, a.Said, a.Sent, a.Hidden, a.Approvals = long, long, long, []string{
			long,
		}, long, 3, 20
		a.Why = []string{long, long, long, long, long}
		q := approval.Question{Ask: a}
		for j := range 19 {
			q.Votes = append(
				q.Votes,
				approval.Vote{Person: fmt.Sprint(j, long), Via: "telegram", Allow: true, At: created},
			)
		}
		c.Questions = append(c.Questions, q)
	}
	return c
}

func denyAll(c *approval.Card) *approval.Card {
	for i := range c.Questions {
		c.Questions[i].Votes = []approval.Vote{
			{
				Person: strings.Repeat("p", 300),
				Via:    "slack",
				Reason: strings.Repeat("r", 300) + fmt.Sprint(i),
				At:     created,
			},
		}
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
	if d := document(denyAll(monster()), &approval.Outcome{State: approval.Denied}, created,
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
	if late := Details(c, c.Until()); len(late.Buttons) > 0 {
		t.Errorf("buttons of an expired card: %+v", late.Buttons)
	}
}

func TestDetailsNameTheCommandsThatMayBeAllowed(t *testing.T) {
	for name, want := range map[string]string{"exec": "", "kind": "Allow 30 min", "message": "Allow 30 min"} {
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
		"two-approvals": "[Allow once Deny More…]", "hidden-file": "[Deny More…]", "attack-h39-spaces": "[Deny More…]", "batch": "[Allow all listed Deny all More… Allow 1 Allow 2 Allow 3]", "spawned": "[]",
	} {
		if got := fmt.Sprint(labelsOf(document(cards()[name], nil, created, &normal))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestMoreHasEveryAnswer: behind More is each answer that the call can get, and none that it can't.
func TestMoreHasEveryAnswer(t *testing.T) {
	liked := card(ask("message", `{"to":"+15550100","message":"hello"}`))
	liked.ShowLikePreview(&approval.LikePreview{Tool: "message", Minutes: 30})
	all := cards()
	all["liked"] = liked
	for name, want := range map[string]string{
		"message":     "Allow once|Deny|Allow 30 min|Allow this turn",
		"liked":       "Allow once|Deny|Allow 30 min|Allow this turn|Allow like this, 30 min",
		"exec":        "Allow once|Deny|Exactly this, 30 min|Exactly this, this turn",
		"kind":        "Allow once|Deny|Allow 30 min|Exactly this, 30 min|Allow this turn",
		"hidden-file": "Allow once|Deny", "not-lasting": "Allow once|Deny", "batch": "Allow all listed|Deny all|More about 1…|More about 2…|More about 3…", "spawned": "",
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
		if len(c.Questions) == 1 && lines > mostLines {
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
		"exec":        "allow once=.approve exec bf619df9;exactly this=.approve exec bf619df9 exactly 30;this turn=.approve exec bf619df9 turn;deny (a reason may follow)=.deny bf619df9;",
		"message":     "allow once=.approve message bf619df9;allow 30 min=.approve message bf619df9 30;this turn=.approve message bf619df9 turn;deny (a reason may follow)=.deny bf619df9;",
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
		{voted(yes, yes), approval.Allowed, "Approved"},
		{voted(no, no), approval.Denied, "Denied"},
		{voted(no, yes), approval.Denied, "Answered"},
		{voted(approval.Vote{Via: "verifier"}, approval.Vote{Via: "verifier"}), approval.Denied, "Withdrawn"},
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
	a := &c.Questions[0].Ask
	a.Always, a.Unclear, a.Risks = "command", false, nil
	if d := Details(c, created).LinkTo("https://page/", c); d.Link != "https://page/"+c.ID ||
		d.LinkTitle != AlwaysLabel {
		t.Errorf("its details lead to %q as %q", d.Link, d.LinkTitle)
	}
	if d := Details(c, created).LinkTo("", c); d.Link != "" {
		t.Errorf("without a page: %q", d.Link)
	}
	for _, other := range []approval.Ask{
		{Always: "command", Risks: []string{"sudo"}}, {Always: "command", Unclear: true}, {}, {Always: "command",
			Blocked: "no"},
	} {
		a.Always, a.Unclear, a.Risks, a.Blocked = other.Always, other.Unclear, other.Risks, other.Blocked
		if Details(c, created).LinkTo("https://page/", c).LinkTitle == AlwaysLabel {
			t.Errorf("it is offered for %+v", other)
		}
	}
}
