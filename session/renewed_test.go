package session_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/session"
)

const ann, session1 = "telegram:1", "s1"

// list writes what was heard as processes do: each knows what was there before.
type list struct {
	entries [][]byte
	now     time.Time
}

func (l *list) add(t *session.Turn) {
	l.now = l.now.Add(time.Second)
	t.Moment = l.now
	text, err := json.Marshal(t)
	if err != nil {
		panic(err)
	}
	l.entries = append(l.entries, text)
	l.entries = l.entries[max(0, len(l.entries)-session.MostRenewals):]
}

func (l *list) read(t *testing.T) *session.Renewals {
	t.Helper()
	r, err := session.ReadRenewals(l.entries)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (l *list) began(t *testing.T, run string, afresh bool) {
	t.Helper()
	r := l.read(t)
	l.add(&session.Turn{What: session.TurnBegan, Who: ann, ID: session1, Run: run, Afresh: afresh, Owners: r.Owners, Renewed: r.Last})
}

func (l *list) asked() { l.add(&session.Turn{What: session.TurnAsked, Who: ann}) }
func (l *list) ended() { l.add(&session.Turn{What: session.TurnEnded, ID: session1, Afresh: true}) }

func (l *list) anew(t *testing.T, run string) {
	t.Helper()
	l.asked()
	l.ended()
	l.began(t, run, true)
}

func (l *list) want(t *testing.T, run, name string) {
	t.Helper()
	if got, _ := l.read(t).Of(run, session1); got != name {
		t.Errorf("run %s counts under %q, want %q", run, got, name)
	}
}

func start() *list { return &list{now: time.Date(2026, 2, 12, 12, 0, 0, 0, time.UTC)} }

func TestRunsCountUnderTheBeginningTheyBelongTo(t *testing.T) {
	t.Parallel()
	l := start()
	l.want(t, "a", session1)
	l.began(t, "a", false)
	l.anew(t, "b")
	l.began(t, "c", false)
	l.anew(t, "d")
	for run, name := range map[string]string{"a": session1, "b": "s1#1", "c": "s1#1", "d": "s1#2", "e": "", "": ""} {
		l.want(t, run, name)
	}
	if got := l.read(t).Current(session1); got != "s1#2" {
		t.Errorf("now %q", got)
	}
	if got := l.read(t).Current("s2"); got != "" {
		t.Errorf("another session, after two beginnings: %q", got)
	}
}

func TestALongListForgetsRunsAndNoBeginning(t *testing.T) {
	t.Parallel()
	l := start()
	l.began(t, "a", false)
	l.anew(t, "b")
	for i := range 3 * session.MostRenewals {
		l.began(t, fmt.Sprint("r", i), false)
		l.want(t, fmt.Sprint("r", i), "s1#1")
		if i%7 == 0 { // someone else's end
			l.add(&session.Turn{What: session.TurnEnded, ID: session1, Afresh: true})
		}
	}
	l.want(t, "a", "")
	l.want(t, "b", "")
	l.anew(t, "c") // and the owner is still known
	l.want(t, "c", "s1#2")
}

// Whoever writes to the store has no seal, but can put what we have written at another place.
func TestH175AnEntryAtAnotherPlaceBeginsNothing(t *testing.T) {
	t.Parallel()
	l := start()
	l.began(t, "a", false)
	l.anew(t, "b")
	asked, ended, began := l.entries[1], l.entries[2], l.entries[3]
	l.now = l.now.Add(time.Hour)
	l.began(t, "c", false)
	for what, more := range map[string][][]byte{
		"all of it again":         {asked, ended, began},
		"the message and its end": {asked, ended},
		"only the end":            {ended},
		"only the beginning":      {began},
	} {
		again := &list{entries: append(append([][]byte{}, l.entries...), more...), now: l.now}
		again.began(t, "d", false)
		if name, _ := again.read(t).Of("d", session1); name != "s1#1" {
			t.Errorf("%s: the next run counts under %q", what, name)
		}
		again.began(t, "e", true)
		if last := again.read(t).Last; last.Count != 1 {
			t.Errorf("%s: it began anew: %+v", what, last)
		}
	}
	cut := &list{entries: l.entries[3:], now: l.now} // what came before its beginning is gone
	cut.want(t, "b", "")
	cut.want(t, "c", "")
	cut.want(t, "e", "")
	cut.began(t, "f", false)
	cut.want(t, "f", "s1#1")
}

func TestTwoInstancesThatHearTwoBeginningsAtOnceAgree(t *testing.T) {
	t.Parallel()
	l := start()
	l.began(t, "a", false)
	l.asked()
	l.ended()
	r := l.read(t)
	for _, run := range []string{"b", "c"} { // both have read the same
		l.add(&session.Turn{What: session.TurnBegan, ID: session1, Run: run, Afresh: true, Owners: r.Owners, Renewed: r.Last})
	}
	l.want(t, "b", "s1#1")
	l.want(t, "c", "") // it may be of before
	l.began(t, "d", false)
	l.want(t, "d", "s1#1")
}

func FuzzReadRenewals(f *testing.F) {
	f.Add([]byte(`{"what":"began","run":"a","id":"s1","count":1,"session":"s1"}`), []byte(`{"what":"asked","who":"telegram:1"}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		r, err := session.ReadRenewals([][]byte{one, two})
		if err != nil {
			return
		}
		if name, _ := r.Of("", "s1"); name != "" && name != "s1" {
			t.Fatalf("a call of no run counts under %q", name)
		}
	})
}
