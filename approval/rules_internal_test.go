package approval

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/taint"
)

var (
	ruleKey = hmac.Key(strings.Repeat("k", 32))
	noon    = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

const ruleTTL = 2 * time.Minute

func asking(t testing.TB, approvals int, holders ...string) *Question {
	t.Helper()
	a := Ask{Tool: "exec", Digest: "d1", Level: taint.Untrusted, Lasting: true, Run: "r", Approvals: approvals, Created: noon, Until: noon.Add(ruleTTL)}
	q, err := pose(ruleKey, "card", a, "")
	if err != nil {
		t.Fatal(err)
	}
	q.Holders = holders
	return &q
}

func says(person string, allow bool, at time.Time) Vote {
	return Vote{Person: person, Via: "test", Allow: allow, At: at}
}

func TestNarrowestScopeApplies(t *testing.T) {
	for _, c := range []struct {
		a, b, want Scope
	}{
		{Scope{Minutes: 30}, Scope{}, Scope{}},
		{Scope{Minutes: 30}, Scope{Minutes: 5}, Scope{Minutes: 5}},
		{Scope{Turn: true}, Scope{Minutes: 5}, Scope{Turn: true, Minutes: 5}},
		{Scope{Turn: true, Minutes: 60}, Scope{Minutes: 5}, Scope{Turn: true, Minutes: 5}},
		{Scope{Turn: true}, Scope{}, Scope{}},
	} {
		if got := narrower(c.a, c.b); got != c.want {
			t.Errorf("narrower(%s, %s) = %s, want %s", c.a, c.b, got, c.want)
		}
		if got := narrower(c.b, c.a); got != c.want {
			t.Errorf("narrower(%s, %s) = %s, want %s", c.b, c.a, got, c.want)
		}
	}
}

func TestScopesAreCutAndTheCutIsSaid(t *testing.T) {
	q := asking(t, 1)
	if s, said := q.limit(Scope{Minutes: 99999}, 60); s.Minutes != 60 || !strings.Contains(said, "60 minutes is the most") {
		t.Errorf("got %s and %q", s, said)
	}
	q.Ask.Run = ""
	if s, said := q.limit(Scope{Turn: true}, 60); s.Lasting() || said == "" {
		t.Errorf("a turn without a run gave %s and %q", s, said)
	}
	q.Ask.Lasting = false
	if s, said := q.limit(Scope{Minutes: 5}, 60); s.Lasting() || said == "" {
		t.Errorf("a call that can't have a grant got %s and %q", s, said)
	}
}

func TestWhoMayTakeTheYes(t *testing.T) {
	for _, c := range []struct {
		name     string
		holders  []string
		heldOnly bool
		used     string
		request  string
		after    time.Duration
		want     bool
	}{
		{"the earliest waiting request", []string{"h.now a", "h.now b"}, false, "", "a", 0, true},
		{"not the second", []string{"h.now a", "h.now b"}, false, "", "b", 0, false},
		{"the second once the first has let it lie", []string{"h.now a", "h.now b"}, false, "", "b", grace, true},
		{"not while another process holds the first", []string{"other.then a"}, false, "", "b", 0, false},
		{"at once when the process that held the first was killed", []string{"h.before a"}, false, "", "b", 0, true},
		{"hidden params: not even then", []string{"h.before a"}, true, "", "b", 0, false},
		{"any identical one when nobody waits", nil, false, "", "z", time.Minute, true},
		{"not after the time is over", nil, false, "", "z", ruleTTL, false},
		{"not twice", nil, false, "y", "z", 0, false},
		{"again the one that took it", nil, false, "y", "y", 0, true},
		{"hidden params: only the held request", []string{"h.now a"}, true, "", "b", grace, false},
		{"hidden params: the held request", []string{"h.now a"}, true, "", "a", 0, true},
		{"hidden params: nobody once none is held", nil, true, "", "z", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := asking(t, 1, c.holders...)
			q.Ask.HeldOnly = c.heldOnly
			if !q.vote(says("ann", true, noon)) {
				t.Fatal("the vote was not taken")
			}
			q.Used = c.used
			if got := q.claimable(q.last(), c.request, ruleTTL, noon.Add(c.after), process{home: "h", run: "now"}.gone); got != c.want {
				t.Errorf("claimable = %v, want %v", got, c.want)
			}
		})
	}
}

// Whatever is said in whatever order, a settled question stays as it was
// settled, and no yes comes without enough people.
func TestFirstTerminalAnswerWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		need := rapid.IntRange(1, 3).Draw(t, "approvals")
		a := Ask{Digest: "d1", Approvals: need, Created: noon, Until: noon.Add(ruleTTL)}
		q, err := pose(ruleKey, "card", a, "r1")
		if err != nil {
			t.Fatal(err)
		}
		now, settled, yes := noon, Open, map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "votes") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			who, allow := rapid.SampledFrom([]string{"ann", "bob", "cy"}).Draw(t, "who"), rapid.Bool().Draw(t, "allow")
			if q.vote(says(who, allow, now)) && allow {
				yes[who] = true
			}
			state := q.state(now)
			if settled != Open && state != settled {
				t.Fatalf("a %s question became %s", settled, state)
			}
			if state == Allowed && len(yes) < need {
				t.Fatalf("approved by %d of %d", len(yes), need)
			}
			settled = state
		}
	})
}
