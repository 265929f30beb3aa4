package session_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/session"
)

var pauseKey = hmac.Key(strings.Repeat("p", 32))

func word(scope string, on bool, at int64) string {
	p := session.Pause{Scope: scope, On: on, By: "Ann", At: time.UnixMilli(at)}
	return p.Value(pauseKey)
}

func TestAPauseReadsAsItWasWrittenAndOnlyUnderItsScope(t *testing.T) {
	text := word("main", true, 5)
	p, err := session.OpenPause(pauseKey, "main", text)
	if err != nil || !p.On || p.By != "Ann" || p.At.UnixMilli() != 5 {
		t.Errorf("%+v, %v", p, err)
	}
	for scope, text := range map[string]string{
		"other": text, "main": strings.Replace(text, "paused", "lifted", 1), "": "", "x": "|||", "y": "5|paused|416e6e|",
		"z": strings.Replace(word("z", true, 5), "5|", "6|", 1),
	} {
		if p, err := session.OpenPause(pauseKey, scope, text); err == nil {
			t.Errorf("%q under %q is %+v", text, scope, p)
		}
	}
}

func TestTheOwnersLaterWordCounts(t *testing.T) {
	p := session.NewPauses(pauseKey, nil, nil)
	if b := p.View("Main"); b != (session.PauseView{Agent: "main"}) {
		t.Errorf("nothing is known and the brake is %+v", b)
	}
	p.Learn("main", word("main", true, 5))
	if b := p.View("MAIN"); !b.On || b.Own != word("main", true, 5) || b.All != "" {
		t.Errorf("%+v", b)
	}
	if b := p.View("other"); b.On {
		t.Errorf("another agent is bound: %+v", b)
	}
	if b := p.View(""); !b.On {
		t.Errorf("a call that names no agent is free while one is paused: %+v", b)
	}
	p.Learn("main", word("main", false, 6))
	if b := p.View("main"); b.On || b.Own != word("main", false, 6) {
		t.Errorf("lifted: %+v", b)
	}
	p.Learn(session.AllAgents, word(session.AllAgents, true, 7))
	for _, agent := range []string{"main", "other", ""} {
		if !p.View(agent).On {
			t.Errorf("%q is not bound by a pause of all", agent)
		}
	}
}

func TestAWordThatVanishesOrGrowsOlderIsPutBack(t *testing.T) {
	p := session.NewPauses(pauseKey, nil, nil)
	p.Learn("main", word("main", false, 4))
	paused := word("main", true, 5)
	p.Learn("main", paused)
	for what, text := range map[string]string{"gone": "", "an older lift": word("main", false, 4), "an older pause": word("main", true, 3)} {
		if l := p.Learn("main", text); l.Put != paused || l.Strange == "" {
			t.Errorf("%s: %+v", what, l)
		}
		if !p.View("main").On {
			t.Errorf("%s lifted the pause", what)
		}
	}
}

// A word is written into one part of the store after the other. A process may read it in one that has it, and then the one before it in
// another.
func TestAWordOnItsWayThroughTheStoreIsPutAndNobodyIsBlamed(t *testing.T) {
	at := time.UnixMilli(5)
	paused, lifted := word("main", true, 5), word("main", false, 4)
	for _, old := range []string{lifted, word("main", true, 3), ""} {
		p := session.NewPauses(pauseKey, nil, nil)
		hear := func(text string, after time.Duration) session.Lesson {
			return p.Heard("main", text, p.View("main").Seen, at.Add(after))
		}
		if old != "" {
			hear(old, 0)
		}
		hear(paused, 0)
		if l := hear(old, time.Second); l != (session.Lesson{Put: paused}) || !p.View("main").On {
			t.Errorf("%q a second later: %+v", old, l)
		}
		if l := hear(old, time.Minute); l.Put != paused || l.Strange == "" {
			t.Errorf("%q a minute later: %+v", old, l)
		}
		if p.Learn("main", paused); hear(old, time.Second).Strange == "" {
			t.Errorf("%q where every part had the word: nobody is blamed", old)
		}
	}
	p := session.NewPauses(pauseKey, nil, nil)
	p.Say(session.Pause{Scope: "main", On: true, By: "Ann", At: at})
	p.Heard("main", paused, p.View("main").Seen, at)
	if l := p.Heard("main", "", p.View("main").Seen, at.Add(time.Second)); l != (session.Lesson{Put: paused}) {
		t.Errorf("said here, and in one part of the store only: %+v", l)
	}
}

func TestAnAnswerFromBeforeTheLastWordSaysNothing(t *testing.T) {
	p := session.NewPauses(pauseKey, nil, nil)
	before := word("main", true, 5)
	p.Learn("main", before)
	asked := p.View("main").Seen
	p.Learn("main", word("main", false, 6))
	if l := p.Heard("main", before, asked, time.Now()); l != (session.Lesson{}) || p.View("main").On {
		t.Errorf("an old answer: %+v", l)
	}
	if l := p.Heard("main", before, p.View("main").Seen, time.Now()); l.Put == "" || l.Strange == "" {
		t.Errorf("an old word in a new answer: %+v", l)
	}
}

func TestWhatNobodyOfOursSealedIsAPauseWhileItStands(t *testing.T) {
	p := session.NewPauses(pauseKey, nil, nil)
	for _, junk := range []string{"x", "5|lifted||", "9|lifted|416e6e|00000000000000000000000000000000"} {
		if l := p.Learn("main", junk); l.Put != "" || l.Strange == "" || !p.View("main").On || p.View("main").Own != junk {
			t.Errorf("%q: %+v, %+v", junk, l, p.View("main"))
		}
		if l := p.Learn("main", ""); l != (session.Lesson{}) || p.View("main").On {
			t.Errorf("%q taken away: %+v, %+v", junk, l, p.View("main"))
		}
	}
	paused := word("main", true, 5)
	p.Learn("main", paused)
	p.Learn("main", "x")
	if l := p.Learn("main", ""); l.Put != paused || !p.View("main").On {
		t.Errorf("junk washed the pause away: %+v", l)
	}
}

func TestTheNextWordIsLaterThanTheLast(t *testing.T) {
	p := session.NewPauses(pauseKey, nil, nil)
	p.Learn("main", word("main", true, 5_000))
	next := p.Next("main", false, "Bob", time.UnixMilli(1_000)) // a clock that is behind
	if l := p.Learn("main", next.Value(pauseKey)); l != (session.Lesson{}) || p.View("main").On {
		t.Errorf("%+v, %+v", next, l)
	}
}

// Whatever a writer to the store puts there, out of all that it has ever seen
// and what it can make up, an agent that the owner paused stays so until the
// owner's word.
func TestNoWriterLiftsAPause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := session.NewPauses(pauseKey, nil, nil)
		seen, at, paused := []string{"", "junk", "1|lifted||"}, int64(0), false
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "the owner speaks") {
				at += rapid.Int64Range(1, 5).Draw(t, "later")
				paused = rapid.Bool().Draw(t, "pauses")
				text := word("main", paused, at)
				seen = append(seen, text)
				p.Learn("main", text)
			} else if l := p.Learn("main", rapid.SampledFrom(seen).Draw(t, "written")); l.Put != "" {
				p.Learn("main", l.Put)
			}
			if paused && !p.View("main").On {
				t.Fatal("the pause was lifted without the owner")
			}
		}
	})
}
