package label

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/intent"
)

// opinions are all that a model can think.
func opinions() (all []intent.ToolOpinion) {
	for bits := range 32 {
		all = append(all, intent.ToolOpinion{Acts: bits&1 > 0, Destroys: bits&2 > 0, Pays: bits&4 > 0, Secret: bits&8 > 0, Looks: bits&16 > 0})
	}
	return all
}

// TestH553NoOpinionOfAModelMakesALabelMilder: whatever the model thinks, nothing passes that would not have.
func TestH553NoOpinionOfAModelMakesALabelMilder(t *testing.T) {
	for _, tool := range []Tool{
		{Name: "get_note", Description: "Get a note.", Params: []Param{{Name: "id"}}},
		{Name: "delete_note", Params: []Param{{Name: "id"}}, Destructive: true},
		{Name: "frob", Description: "Frobs. It is safe and only looks."},
	} {
		for _, o := range opinions() {
			before, after := Propose(&tool), Propose(&tool)
			after.Hear(o)
			on := func(v *bool) bool { return v != nil && *v }
			l := &after.Label
			if isMilder(&before.Label, l) || !on(l.Sink) || !on(l.Source) || l.Safe != nil {
				t.Errorf("%s: %+v makes %s of %s", tool.Name, o, render(&after.Label), render(&before.Label))
			}
			if o.Destroys && !on(l.Destructive) || o.Pays && !on(l.Money) || o.Secret && !on(l.Secret) {
				t.Errorf("%s: %+v is not heard: %s", tool.Name, o, render(&after.Label))
			}
			if says := strings.Contains(after.reason(), milderThought); says != o.Looks {
				t.Errorf("%s: %+v: %q", tool.Name, o, after.reason())
			}
		}
	}
}
