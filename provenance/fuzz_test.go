package provenance_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/provenance"
)

// FuzzBuild: facts that were read from anywhere make a graph that can be written
// and read again, or are no facts.
func FuzzBuild(f *testing.F) {
	for _, s := range []string{
		`[{"w":"began","t":1,"s":"agent:main:main"},{"w":"held","t":2,"l":"owner","k":"history"},{"w":"asked","t":3}]`,
		`[{"w":"called","t":1,"l":"untrusted","o":"exec","x":true,"r":"unanswered"},{"w":"returned","o":"exec","l":"local"}]`,
		`[{"w":"blocked"},{"w":"said"},{"w":"ended"},{"w":"dropped"},{"w":"wanted","n":-1}]`, `[{"l":"9"}]`, `[{}]`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var facts []provenance.Fact
		if json.Unmarshal(b, &facts) != nil {
			return
		}
		g := provenance.Build("turn", facts)
		text, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var again provenance.Graph
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if g.Footer() != again.Footer() {
			t.Fatal("the same graph, another footer")
		}
	})
}
