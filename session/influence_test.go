package session_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// counter numbers what is new.
func counter() func() (int64, error) {
	n := int64(0)
	return func() (int64, error) { n++; return n, nil }
}

func TestInfluencesReadBackAsTheyWereWritten(t *testing.T) {
	var all session.Influences
	next, at := counter(), time.UnixMilli(1_700_000_000_000).UTC()
	for _, i := range []session.Influence{
		{Label: "web_fetch wiki.example", Level: taint.Untrusted, Last: at, Step: 1},
		{Label: "someone\nwrote", Level: taint.External, Last: at, Step: 2},
		{Level: taint.Shared, Last: at}, // what has no name
		{Label: "read a very long name…", Level: taint.Untrusted, Last: at},
		{Label: "web_fetch wiki.example", Level: taint.External, Last: at.Add(time.Second), Step: 5},
	} {
		i.Session = "s1"
		if err := all.Add(i, next); err != nil {
			t.Fatal(err)
		}
	}
	read, ok := session.ParseInfluences("s1", all.String())
	if got, want := fmt.Sprintf("%+v", read), fmt.Sprintf("%+v", all); !ok || got != want {
		t.Errorf("wrote %s\nread  %s", want, got)
	}
	if len(all) != 4 || all[0].Level != taint.Untrusted || all[0].Step != 5 || !all[0].First.Equal(at) {
		t.Errorf("%+v", all)
	}
	if all.Worst() != taint.Untrusted || all[1:3].Worst() != taint.External {
		t.Errorf("worst %s, %s", all.Worst(), all[1:3].Worst())
	}
}

func TestWhatIsNoInfluenceIsNotRead(t *testing.T) {
	for _, text := range []string{"x", "1 5 0 0 0", "1 6 0 0 0 a\n", "1 x 0 0 0 a\n", "-1 5 0 0 0 a\n", "1 5 0 0 0 a\n\n"} {
		if all, ok := session.ParseInfluences("", text); ok {
			t.Errorf("%q is read as %+v", text, all)
		}
	}
}

func FuzzInfluences(f *testing.F) {
	f.Add("1 5 1700000000000 1700000000000 3 web_fetch a.example\n2 4 1 2 3 \n")
	f.Fuzz(func(t *testing.T, text string) {
		all, ok := session.ParseInfluences("s", text)
		if !ok {
			return
		}
		again, ok := session.ParseInfluences("s", all.String())
		if !ok || fmt.Sprint(again) != fmt.Sprint(all) {
			t.Errorf("%q became %q", text, all.String())
		}
	})
}
