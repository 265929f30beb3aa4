package approval

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestACallThatNamesNoAgentShedsNoQuorum(t *testing.T) {
	one, two := Route{Agents: []string{"a"}, Approvals: 1}, Route{Agents: []string{"b"}, Approvals: 2, Channels: []string{"x"}}
	everyone := Route{Channels: []string{"y"}}
	for _, c := range []struct {
		says   string
		routes []Route
		usual  int
		want   Route
	}{
		{"the strictest of all agents' routes", []Route{one, two}, 1, two},
		{"the general number where that is stricter", []Route{one, two}, 3, Route{}},
		{"the first of equals", []Route{two, {Agents: []string{"c"}, Approvals: 2}}, 1, two},
		{"a route for every agent counts like any other", []Route{one, everyone, two}, 1, one},
		{"and ends the search", []Route{everyone, two}, 1, everyone},
	} {
		terms := &terms{Terms: Terms{Config: Config{Approvals: c.usual, Routes: c.routes}}}
		got := terms.route(&Ask{Tool: "exec"})
		if got.Approvals != c.want.Approvals || !slices.Equal(got.Channels, c.want.Channels) || !slices.Equal(got.Agents, c.want.Agents) {
			t.Errorf("%s: got %+v, want %+v", c.says, got, c.want)
		}
	}
}

// What a route froze can't be changed by who writes to the store.
func TestH30ARouteWrittenIntoTheStoreIsForged(t *testing.T) {
	d := &cardStore{core: &core{o: Options{Key: ruleKey}}}
	d.inForce.Store(&terms{})
	a := Ask{
		Tool: "exec", Digest: "d1", Approvals: 2, Approvers: []string{"ann", "bob"}, Barred: "bob", Created: noon, Until: noon.Add(ruleTTL),
		Stages: []Stage{{From: noon, Channels: []string{"telegram"}}, {From: noon.Add(time.Minute), Channels: []string{"slack"}}},
	}
	q, err := pose(ruleKey, "card", a, "r1")
	if err != nil {
		t.Fatal(err)
	}
	c := Card{ID: "card", Frozen: true, Questions: []Question{q}}
	blob, err := c.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.open(Stored{ID: "card", Blob: blob}, noon); err != nil {
		t.Fatal(err)
	}
	for old, new := range map[string]string{
		`"approvals":2`: `"approvals":1`, `["ann","bob"]`: `["ann","eve"]`, `"barred":"bob"`: `"barred":"ann"`, `["slack"]`: `["eve"]`,
	} {
		changed := strings.Replace(string(blob), old, new, 1)
		if changed == string(blob) {
			t.Fatalf("%s does not stand in %s", old, blob)
		}
		if _, err := d.open(Stored{ID: "card", Blob: []byte(changed)}, noon); err == nil {
			t.Errorf("%s instead of %s is taken", new, old)
		}
	}
}

func TestAVoteOfSomeoneWhoMayNotCountsForNothing(t *testing.T) {
	q := asking(t, 1)
	q.Ask.Approvers, q.Ask.Barred = []string{"ann", "bob"}, "bob"
	for _, who := range []string{"eve", "bob"} {
		v := says(who, true, noon)
		v.Seal = ruleKey.Seal("vote", v.sealed("card", "d1")...)
		q.Votes = []Vote{v}
		if got := q.state(noon); got != Open {
			t.Errorf("%s made it %s", who, got)
		}
	}
}

func TestAGrantStandsOnlyForAsManyPeopleAsItTakesToday(t *testing.T) {
	d := assemble(Options{}, process{})
	configure := func(routes ...Route) {
		t.Helper()
		people := []Person{{Name: "ann", IDs: []string{"x:1"}}, {Name: "bob", IDs: []string{"x:2"}}}
		if err := d.Configure(Terms{People: people, Config: Config{Routes: routes}}); err != nil {
			t.Fatal(err)
		}
	}
	stands := func(by string, want bool) {
		t.Helper()
		if got := d.Grants.Covers(by, Ask{Tool: "exec", Agent: "main"}); got != want {
			t.Errorf("a grant of %s stands: %v", by, got)
		}
	}
	configure()
	stands("ann", true)
	stands("eve", false)
	configure(Route{Tools: []string{"exec"}, Approvals: 2})
	stands("ann", false)
	stands("ann, bob", true)
	configure(Route{Tools: []string{"exec"}, Approvers: []string{"bob"}})
	stands("ann", false)
	stands("bob", true)
}
