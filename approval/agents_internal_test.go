package approval

import (
	"slices"
	"strings"
	"testing"
)

func TestACallThatNamesNoAgentIsForThoseWhoMayAnswerForEach(t *testing.T) {
	ann, both, bob := Agent{Approvers: []string{"ann"}}, Agent{Approvers: []string{"bob", "ann"}}, Agent{Approvers: []string{"bob"}}
	for _, c := range []struct {
		says   string
		agents map[string]Agent
		want   []string
	}{
		{"nothing is special about any", map[string]Agent{"a": {Channels: []string{"x"}}}, nil},
		{"one has approvers", map[string]Agent{"a": {}, "b": ann}, []string{"ann"}},
		{"those of all", map[string]Agent{"a": both, "b": ann}, []string{"ann"}},
		{"no one may for all", map[string]Agent{"a": bob, "b": ann}, []string{}},
	} {
		terms := &terms{Terms: Terms{Agents: c.agents}}
		var a Ask
		if terms.bind(&a); !slices.Equal(a.Approvers, c.want) || (a.Approvers == nil) != (c.want == nil) || a.Channels != nil {
			t.Errorf("%s: got %+v", c.says, a)
		}
		if a.admits("ann") != (c.want == nil || slices.Contains(c.want, "ann")) || a.admits("eve") != (c.want == nil) {
			t.Errorf("%s: who may answer is not as it is bound", c.says)
		}
	}
}

// Who may answer, and where it is put, can't be changed by who writes to the store.
func TestH30AnotherApproverWrittenIntoTheStoreIsForged(t *testing.T) {
	d := &cardStore{core: &core{o: Options{Key: ruleKey}}}
	d.inForce.Store(&terms{})
	a := Ask{
		Tool: "exec", Digest: "d1", Approvals: 2, Approvers: []string{"ann", "bob"}, Created: noon, Until: noon.Add(ruleTTL),
		Channels: []string{"telegram", "slack"},
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
		`"approvals":2`: `"approvals":1`, `["ann","bob"]`: `["ann","eve"]`, `"slack"]`: `"eve"]`,
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

func TestAGrantStandsOnlyForAsManyPeopleAsItTakesToday(t *testing.T) {
	d := assemble(Options{}, process{})
	configure := func(approvals int, may ...string) {
		t.Helper()
		people := []Person{{Name: "ann", IDs: []string{"x:1"}}, {Name: "bob", IDs: []string{"x:2"}}}
		if err := d.Configure(Terms{People: people, Config: Config{Approvals: approvals}, Agents: map[string]Agent{"Main": {Approvers: may}}}); err != nil {
			t.Fatal(err)
		}
	}
	stands := func(by string, want bool) {
		t.Helper()
		if got := d.Grants.Covers(by, Ask{Tool: "exec", Agent: "main"}); got != want {
			t.Errorf("a grant of %s stands: %v", by, got)
		}
	}
	configure(1)
	stands("ann", true)
	stands("eve", false)
	configure(2)
	stands("ann", false)
	stands("ann, bob", true)
	configure(1, "bob")
	stands("ann", false)
	stands("bob", true)
}
