package session_test

import (
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

var talk = session.Conversation{Client: "laptop", Key: "agent:main:main"}

func TestOnlyAResetLowersTheFloor(t *testing.T) {
	var f session.Floor
	f.Raise(talk.ID(), "s", session.Mark{Level: taint.Untrusted, Generation: 1})
	f.Raise(talk.ID(), "s", session.Mark{Level: taint.Owner, Generation: 1})
	if got := f.At(talk.ID(), "s"); got != (session.Mark{Level: taint.Untrusted, Generation: 1}) {
		t.Errorf("%+v", got)
	}
	f.Raise(talk.ID(), "s", session.Mark{Level: taint.Local, Generation: 2})
	if got := f.At(talk.ID(), "s"); got != (session.Mark{Level: taint.Local, Generation: 2}) {
		t.Errorf("after a reset: %+v", got)
	}
	// A store that was rolled back to before the reset changes nothing.
	f.Raise(talk.ID(), "s", session.Mark{Level: taint.Untrusted, Generation: 1})
	if got := f.At(talk.ID(), "s"); got != (session.Mark{Level: taint.Local, Generation: 2}) {
		t.Errorf("after an old word: %+v", got)
	}
}

func TestManySessionsFallBackToTheWorst(t *testing.T) {
	var f session.Floor
	f.Raise(talk.ID(), "bad", session.Mark{Level: taint.Untrusted})
	for i := range 100 {
		f.Raise(talk.ID(), strconv.Itoa(i), session.Mark{Level: taint.Owner})
	}
	if got := f.At(talk.ID(), "never seen").Level; got != taint.Untrusted {
		t.Errorf("beyond the bound a session stands at %s, want the worst", got)
	}
}

func TestH18TheFloorNeverGoesDownWithinAGeneration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f session.Floor
		ids := rapid.SampledFrom([]string{"", "a", "b"})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			watched := ids.Draw(t, "watched")
			before := f.At(talk.ID(), watched).Level
			level := taint.Level(rapid.IntRange(0, taint.Levels-1).Draw(t, "level"))
			raised := ids.Draw(t, "raised")
			f.Raise(talk.ID(), raised, session.Mark{Level: level})
			if after := f.At(talk.ID(), watched).Level; after < before {
				t.Fatalf("%q went from %s to %s", watched, before, after)
			}
			if after := f.At(talk.ID(), raised).Level; after < level {
				t.Fatalf("%q was seen at %s and stands at %s", raised, level, after)
			}
		}
	})
}

func TestManyGoroutinesShareOneFloor(t *testing.T) {
	var f session.Floor
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			f.Raise(talk.ID(), strconv.Itoa(i%4), session.Mark{Level: taint.Level(i % taint.Levels)})
			f.At(talk.ID(), "")
		})
	}
	wg.Wait()
	if got := f.At(talk.ID(), "").Level; got != taint.Untrusted {
		t.Errorf("%s, want untrusted", got)
	}
}

func TestWhatCameWithoutASessionIDCountsEvenWhenTheBoundIsReached(t *testing.T) {
	var f session.Floor
	for i := range 200 {
		f.Raise(talk.ID(), strconv.Itoa(i), session.Mark{Level: taint.Owner})
	}
	f.Raise(talk.ID(), "", session.Mark{Level: taint.Untrusted})
	if got := f.At(talk.ID(), "3").Level; got != taint.Untrusted {
		t.Errorf("a known session stands at %s, want untrusted", got)
	}
}
