package approval_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func quiet(t testing.TB, text string) (q approval.Quiet) {
	t.Helper()
	if err := q.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if q.String() != text {
		t.Fatalf("%q reads as %q", text, q)
	}
	return q
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// clock is what the desk takes for the time.
type clock struct{ now time.Time }

func (c *clock) set(t testing.TB, text string) { c.now = at(t, text) }

// absent opens a desk with a clock of its own, in front of people with these quiet hours.
func absent(t testing.TB, s approval.Store, c *clock, edit func(*approval.Options), hours ...string) *approval.Desk {
	t.Helper()
	people := []approval.Person{{Name: "alice", IDs: []string{alice}}, {Name: "bob", IDs: []string{bob}}}
	for i, text := range hours {
		if text != "" {
			people[i].Quiet = quiet(t, text)
		}
	}
	return openDesk(t, s, func(o *approval.Options) {
		o.Terms.People, o.Now = people, func() time.Time { return c.now }
		if edit != nil {
			edit(o)
		}
	})
}

// put asks about a call and does not wait.
func put(t testing.TB, d *approval.Desk, c *clock, edit func(*approval.Request)) approval.Ruling {
	t.Helper()
	r := request(func(r *approval.Request) {
		r.Now, r.Hold = c.now, 0
		if edit != nil {
			edit(r)
		}
	})
	ruling, err := d.Ask(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	return ruling
}

// wantAway checks that a call is denied at once until a time; empty: that people are asked.
func wantAway(t testing.TB, what string, r approval.Ruling, until string) {
	t.Helper()
	switch {
	case until == "" && (r.Away || r.Muted || r.Ref == ""):
		t.Errorf("%s: %+v; want people to be asked", what, r)
	case until != "" && (!r.Away || r.Yes || r.Ref != "" || !r.Again.Equal(at(t, until))):
		t.Errorf("%s: %+v; want it denied until %s", what, r, until)
	}
}

func says(t testing.TB, d *approval.Desk, who, line, want string) {
	t.Helper()
	o, err := d.Answer(t.Context(), approval.Answer{ID: who, Via: "chat", Text: line})
	if err != nil || !strings.Contains(o.Text, want) {
		t.Errorf("%s says %s and reads %+v, %v; want %q", who, line, o, err, want)
	}
}

// Hours in Berlin: an hour before UTC in winter, two in summer. The clock goes forward on 28 March 2027 at 01:00 UTC, and back on 31 October.
func TestH518QuietHoursAreByTheClockOnTheWall(t *testing.T) {
	c := &clock{}
	for _, row := range []struct{ hours, now, until string }{
		{"22:00-07:00 Europe/Berlin", "2026-11-17T20:59:59Z", ""},
		{"22:00-07:00 Europe/Berlin", "2026-11-17T21:00:00Z", "2026-11-18T06:00:00Z"},
		{"22:00-07:00 Europe/Berlin", "2026-11-18T05:59:59Z", "2026-11-18T06:00:00Z"},
		{"22:00-07:00 Europe/Berlin", "2026-11-18T06:00:00Z", ""},
		{"13:00-14:30 UTC", "2026-11-18T13:10:07Z", "2026-11-18T14:30:00Z"},
		{"13:00-14:30 UTC", "2026-11-18T14:30:00Z", ""},
		{"22:00-07:00 Europe/Berlin", "2027-03-27T22:00:00Z", "2027-03-28T05:00:00Z"}, // one hour less
		{"22:00-07:00 Europe/Berlin", "2027-10-30T22:00:00Z", "2027-10-31T06:00:00Z"}, // one hour more
		{"22:00-02:30 Europe/Berlin", "2027-03-28T00:59:00Z", "2027-03-28T01:00:00Z"}, // 02:30 does not exist
		{"02:15-02:45 Europe/Berlin", "2027-03-28T01:00:00Z", ""},
		{"02:15-02:45 Europe/Berlin", "2027-10-31T00:20:00Z", "2027-10-31T00:45:00Z"}, // and here it comes twice
		{"02:15-02:45 Europe/Berlin", "2027-10-31T01:20:00Z", "2027-10-31T01:45:00Z"},
		{"00:00-23:59 Asia/Kolkata", "2026-11-17T18:30:00Z", "2026-11-18T18:29:00Z"},
	} {
		c.set(t, row.now)
		d := absent(t, openStore(t), c, nil, row.hours, row.hours)
		wantAway(t, row.hours+" at "+row.now, put(t, d, c, nil), row.until)
		d.Close()
	}
}

func TestQuietHoursThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "22:00-07:00", "22:00-07:00 ", "22-07 UTC", "24:00-07:00 UTC", "22:60-07:00 UTC", "22:00-22:00 UTC", "22:00–07:00 UTC", "22:00-07:00 Local", "22:00-07:00 Europe/Berlln",
		"22:00-07:00 ../../etc/passwd", "22:00-07:00  UTC", "22:00-07:00 UTC\n", " 22:00-07:00 UTC", "7:00-8:00 UTC", "22:00-07:00 Europe/Berlin, 12:00-13:00 UTC",
	} {
		q := quiet(t, "22:00-07:00 UTC")
		if err := q.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), ": ") || q.String() != "22:00-07:00 UTC" {
			t.Errorf("%q: %v, %s", text, err, q)
		}
	}
}

func TestOneWhoIsThereIsAsked(t *testing.T) {
	c := &clock{now: at(t, "2026-11-17T23:00:00Z")}
	d := absent(t, openStore(t), c, nil, "22:00-07:00 UTC", "")
	wantAway(t, "bob has no quiet hours", put(t, d, c, nil), "")
	two := absent(t, openStore(t), c, func(o *approval.Options) { o.Terms.Approvals = 2 }, "22:00-07:00 UTC", "")
	wantAway(t, "two must agree", put(t, two, c, nil), "2026-11-18T07:00:00Z")
	routed := absent(t, openStore(t), c, func(o *approval.Options) { o.Terms.Routes = []approval.Route{{Approvers: []string{"alice"}}} }, "22:00-07:00 UTC", "")
	wantAway(t, "only alice may answer", put(t, routed, c, nil), "2026-11-18T07:00:00Z")
	self := false
	barred := absent(t, openStore(t), c, func(o *approval.Options) { o.Terms.RequesterMayApprove = &self }, "22:00-07:00 UTC", "")
	wantAway(t, "bob started it", put(t, barred, c, func(r *approval.Request) { r.Ask.Senders = []string{bob} }), "2026-11-18T07:00:00Z")
}

func TestUrgentCallsBreakThroughQuietHours(t *testing.T) {
	c := &clock{now: at(t, "2026-11-17T23:00:00Z")}
	const until = "2026-11-18T07:00:00Z"
	for _, row := range []struct {
		urgent, stakes []string
		until          string
	}{
		{nil, []string{"all", "money"}, until},
		{[]string{"money"}, []string{"all", "money"}, ""},
		{[]string{"money"}, []string{"all", "leaves"}, until},
		{[]string{"all"}, []string{"all"}, ""},
		{[]string{"Exec"}, []string{"all"}, ""},
		{[]string{"bash"}, []string{"all"}, ""}, // another name of it
		{[]string{"execute"}, []string{"all"}, until},
		{[]string{"exec"}, []string{"all", "unknown"}, ""},
		{[]string{"money"}, []string{"all", "money", "leaves", "unknown"}, until}, // we don't know what it does
		{[]string{"unknown"}, []string{"all", "money", "leaves", "unknown"}, ""},
	} {
		d := absent(t, openStore(t), c, func(o *approval.Options) { o.Terms.Urgent = row.urgent }, "22:00-07:00 UTC", "22:00-07:00 UTC")
		wantAway(t, strings.Join(row.urgent, " ")+" of "+strings.Join(row.stakes, " "), put(t, d, c, func(r *approval.Request) { r.Ask.Stakes = row.stakes }), row.until)
		says(t, d, alice, ".away until 2d", "alice is away")
		says(t, d, bob, ".away until 2d", "bob is away")
		wantAway(t, "an absence is not broken", put(t, d, c, func(r *approval.Request) { r.Ask.Stakes = row.stakes }), map[bool]string{true: "2026-11-20T07:00:00Z", false: "2026-11-19T23:00:00Z"}[row.until != ""])
		d.Close()
	}
}

func TestAwayUntilFridayBobDecides(t *testing.T) {
	c := &clock{now: at(t, "2026-11-17T12:00:00Z")} // a Tuesday
	record := &ledger{}
	d := absent(t, openStore(t), c, func(o *approval.Options) { o.Record = record }, "22:00-07:00 UTC", "22:00-07:00 UTC")
	says(t, d, alice, ".away until Friday Bob", "alice is away until Fri 2026-11-20 00:00 UTC. bob decides what bob may answer already.")
	wantAway(t, "bob is there", put(t, d, c, nil), "")
	says(t, d, alice, ".pending", "AWAY: alice until Fri 2026-11-20 07:00 UTC, bob decides.")
	c.set(t, "2026-11-18T23:00:00Z")
	wantAway(t, "bob sleeps", put(t, d, c, nil), "2026-11-19T07:00:00Z")
	c.set(t, "2026-11-20T06:00:00Z")
	wantAway(t, "alice is back and sleeps, as bob does", put(t, d, c, nil), "2026-11-20T07:00:00Z")
	c.set(t, "2026-11-20T08:00:00Z")
	says(t, d, alice, ".back", "you are not away")
	c.set(t, "2026-11-17T13:00:00Z")
	says(t, d, alice, ".back", "alice is back.")
	if now, err := d.Availability.Now(t.Context(), alice); err != nil || len(now.Away) != 0 || now.Me != "alice" || now.IsAway() {
		t.Errorf("%+v, %v", now, err)
	}
	for line, want := range map[string]string{
		".away until friday alice": "Name someone else", ".away until friday mallory": "No approver in the config has the name \"mallory\"",
		".away until 2026-11-16": "in the next 60 days", ".away until 2027-11-16": "in the next 60 days", ".away until whenever": "Write: .away until",
	} {
		says(t, d, alice, line, want)
	}
	if n := len(record.of("note")); n != 2 {
		t.Errorf("the record has %d notes", n)
	}
}

// What was answered stays so, and a card that is open can be answered for a retry, although no one is disturbed by another.
func TestAYesFromBeforeStaysGood(t *testing.T) {
	c := &clock{now: time.Now()}
	s := openStore(t)
	d := absent(t, s, c, nil)
	digest := func(id, card string) func(*approval.Request) {
		return func(r *approval.Request) { r.ID, r.Ask.Digest, r.Waiting = id, "the same", card }
	}
	first := put(t, d, c, digest("one", ""))
	says(t, d, alice, ".away until 2h", "away")
	says(t, d, bob, ".away until 3h", "away")
	if r := put(t, d, c, digest("two", first.Card)); !r.Away || r.Yes {
		t.Errorf("while all are away: %+v", r)
	}
	cards, err := d.Pending(t.Context(), alice)
	if err != nil || len(cards) != 1 {
		t.Fatalf("%d cards, %v", len(cards), err)
	}
	if o := tap(t, d, alice, cards[0].Handle(approval.AllowOnce), ""); o.Kind != approval.Counted {
		t.Fatalf("alice, who is away, is told %+v", o)
	}
	if r := put(t, d, c, digest("three", first.Card)); !r.Yes {
		t.Errorf("after the yes: %+v", r)
	}
}

func TestAMuteDeniesWhatWouldAskAndNothingElse(t *testing.T) {
	c := &clock{now: time.Now()}
	s := openStore(t)
	d := absent(t, s, c, nil)
	other := session.Conversation{Client: "default", Key: "agent:main:other"}
	if _, err := s.Admit(t.Context(), session.Admission{Conversation: other, RequestID: "other", Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Source: "read", Keep: time.Minute}); err != nil {
		t.Fatal(err)
	}
	in := func(conv session.Conversation, agent string) func(*approval.Request) {
		return func(r *approval.Request) {
			r.Ask.Conversation, r.Ask.SessionKey, r.Ask.Agent = conv, conv.Key, agent
		}
	}
	want := func(what string, r approval.Ruling, muted bool) {
		t.Helper()
		if r.Muted != muted || r.Yes || muted && (r.Ref != "" || !r.Again.Equal(c.now.Add(time.Hour).Truncate(time.Second))) {
			t.Errorf("%s: %+v", what, r)
		}
	}
	open := put(t, d, c, in(conversation, "main"))
	says(t, d, alice, ".mute in "+conversation.Ref(), "Still open, and for you to answer: "+open.Ref)
	want("that conversation", put(t, d, c, in(conversation, "main")), true)
	want("a child of it", put(t, d, c, func(r *approval.Request) { r.Ask.SessionKey = "agent:main:subagent:1" }), true)
	want("another", put(t, d, c, in(other, "main")), false)
	says(t, d, bob, ".pending", "MUTED: The conversation "+conversation.Ref()+" by alice")
	says(t, d, bob, ".unmute in "+conversation.Ref(), "asks again, by bob")
	want("no longer", put(t, d, c, in(conversation, "main")), false)

	says(t, d, alice, ".mute MAIN 60", `The agent "MAIN" muted by alice (chat)`)
	want("that agent anywhere", put(t, d, c, in(other, "main")), true)
	want("no agent's name", put(t, d, c, in(other, "")), true)
	want("another agent", put(t, d, c, in(other, "other")), false)
	says(t, d, alice, ".unmute other", "Nothing of that is muted")
	says(t, d, alice, ".unmute", "Everything that was muted asks again")
	want("no longer", put(t, d, c, in(other, "main")), false)
	says(t, d, alice, ".mute in 00000000", "No conversation has the reference")
	says(t, d, mallory, ".mute main", approval.NotAuthorised)
	if now, err := d.Availability.Now(t.Context(), mallory); err != nil || len(now.Muted) != 0 || now.Me != "" {
		t.Errorf("%+v, %v", now, err)
	}
}

// A route asks alice in one chat, and after five minutes bob in another. If alice is away he is asked at once.
func TestEscalationGoesAlongWithAnAbsence(t *testing.T) {
	c := &clock{now: time.Now()}
	for _, row := range []struct {
		say  string
		both bool
	}{{"", false}, {".away until 2h", true}, {".away until 2h bob", true}} {
		near, far := newChat(), newChat()
		d := absent(t, openStore(t), c, func(o *approval.Options) {
			o.Inbox, o.Channels = false, map[string]approval.Channel{"chat": near, "pager": far}
			o.Terms.People[1].IDs = []string{"pager:2"}
			o.Terms.Routes = []approval.Route{{Channels: []string{"chat"}, Approvers: []string{"alice"}, Escalate: []approval.Escalation{{After: 5 * time.Minute, Channels: []string{"pager"}, Approvers: []string{"bob"}}}}}
		})
		if row.say != "" {
			says(t, d, alice, row.say, "away")
			near.card(t)
			far.card(t) // everyone is told
		}
		<-ask(t, d, func(r *approval.Request) { r.Hold = time.Millisecond; r.Now = c.now }) // the desk may be closed only after it
		near.card(t)
		if row.both {
			far.card(t)
		} else if len(far.sent) != 0 {
			t.Error("bob was asked before his time")
		}
		d.Close()
	}
}

// TestH517AClockThatGoesBackUndoesNoWord: what was said last counts, however the clocks stand.
func TestH517AClockThatGoesBackUndoesNoWord(t *testing.T) {
	c := &clock{now: at(t, "2026-11-17T12:00:00Z")}
	s := openStore(t)
	d := absent(t, s, c, func(o *approval.Options) { o.Terms.People = o.Terms.People[:1] })
	says(t, d, alice, ".away until 3h", "alice is away")
	for _, step := range []struct{ now, say, want, until string }{
		{"2026-11-17T10:00:00Z", "", "", "2026-11-17T15:00:00Z"}, // set back: still away, and asked no sooner
		{"2026-11-17T10:00:01Z", ".back", "alice is back", ""},   // the later word, at an earlier time
		{"2026-11-17T12:00:01Z", "", "", ""},
		{"2026-11-17T09:00:00Z", ".away until 1h", "alice is away", "2026-11-17T10:00:00Z"},
		{"2026-11-17T08:00:00Z", ".away until 4h", "alice is away", "2026-11-17T12:00:00Z"},
		{"2026-11-17T12:00:00Z", "", "", ""},
	} {
		c.set(t, step.now)
		if step.say != "" {
			says(t, d, alice, step.say, step.want)
		}
		wantAway(t, step.now+" "+step.say, put(t, d, c, nil), step.until)
	}
}

// TestH520WhatOthersWriteIntoTheStoreIsNoWord: forged, changed, cut and old entries neither keep a person from being asked nor call them back.
func TestH520WhatOthersWriteIntoTheStoreIsNoWord(t *testing.T) {
	c := &clock{now: at(t, "2026-11-17T12:00:00Z")}
	s := openStore(t)
	d := absent(t, s, c, func(o *approval.Options) { o.Terms.People = o.Terms.People[:1] })
	const list = "00:absences"
	stored := func() [][]byte {
		t.Helper()
		entries, err := s.Notes(t.Context(), list)
		if err != nil || len(entries) == 0 {
			t.Fatalf("%q, %v", entries, err)
		}
		return entries
	}
	write := func(entry []byte) {
		t.Helper()
		if err := s.Note(t.Context(), session.Note{List: list, Most: 500, Keep: time.Hour, Entries: [][]byte{entry}}); err != nil {
			t.Fatal(err)
		}
	}
	says(t, d, alice, ".away until 3h", "away")
	away := stored()[0]
	c.set(t, "2026-11-17T12:01:00Z")
	says(t, d, alice, ".back", "back")
	back := stored()[1]
	parts := strings.Split(string(away), "|")
	for what, entry := range map[string][]byte{
		"the old word again": away, "nothing": {}, "no fields": []byte("away"), "a field less": []byte(strings.Join(parts[:5], "|")), "a field more": append(slices.Clone(away), "|00"...),
		"a later time":   []byte(strings.Join([]string{parts[0], parts[1], parts[2], parts[3], hex.EncodeToString([]byte("99999999999999")), parts[5]}, "|")),
		"a later end":    []byte(strings.Join([]string{parts[0], hex.EncodeToString([]byte("9999999999")), parts[2], parts[3], parts[4], parts[5]}, "|")),
		"about an agent": []byte(strings.Join([]string{hex.EncodeToString([]byte("agent main")), parts[1], parts[2], parts[3], parts[4], parts[5]}, "|")),
	} {
		write(entry)
		if r := put(t, d, c, nil); r.Away || r.Muted {
			t.Errorf("%s: %+v", what, r)
		}
	}
	c.set(t, "2026-11-17T12:02:00Z")
	says(t, d, alice, ".away until 3h", "away")
	write(back)
	wantAway(t, "the old .back again", put(t, d, c, nil), "2026-11-17T15:02:00Z")
}
