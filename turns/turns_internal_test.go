package turns

import (
	"strconv"
	"testing"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
)

// A turn that is heard of now and then is not forgotten, however many others come
// between.
func TestATurnThatGoesOnIsNotForgotten(t *testing.T) {
	news := func(key, run string) *News {
		c := session.Conversation{Client: "c", Key: key}
		return &News{Turn: Key{Conversation: c, Run: run}, Root: c, Facts: []provenance.Fact{{What: provenance.Called}}}
	}
	var m memory
	first, _ := m.add(news("long", "run"))
	for i := range 5 * remembered {
		m.add(news("other", strconv.Itoa(i)))
		if i%(remembered/2) == 0 {
			if again, _ := m.add(news("long", "run")); again != first {
				t.Fatalf("after %d others it is another turn", i)
			}
		}
	}
	if n := m.find(news("long", "run").Turn); n != first || n.facts != 11 {
		t.Errorf("%+v", n)
	}
}
