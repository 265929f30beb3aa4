package verifier

import (
	"strconv"
	"testing"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// A turn that is heard of now and then is not forgotten, however many others come
// between.
func TestATurnThatGoesOnIsNotForgotten(t *testing.T) {
	call := func(key, run string) *evaluation {
		return &evaluation{call: &toolcall.Call{Client: "c", Context: toolcall.Context{SessionKey: key, RunID: run}}}
	}
	var s turns
	fact := heardOf{facts: []provenance.Fact{{What: provenance.Called}}}
	first, _ := s.add(call("long", "run"), fact)
	for i := range 5 * turnsSize {
		s.add(call("other", strconv.Itoa(i)), fact)
		if i%(turnsSize/2) == 0 {
			if again, _ := s.add(call("long", "run"), fact); again != first {
				t.Fatalf("after %d others it is another turn", i)
			}
		}
	}
	k := call("long", "run").turnOf()
	if n := s.find(k); n != first || n.facts != 11 {
		t.Errorf("%+v", n)
	}
}
