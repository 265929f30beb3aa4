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

// TestH553NoOpinionOfAModelMakesALabelMilder: whatever the model thinks, of tools of each kind, nothing passes that would not have.
func TestH553NoOpinionOfAModelMakesALabelMilder(t *testing.T) {
	to, text, code := Param{Name: "to"}, Param{Name: "text"}, Param{Name: "code"}
	for _, tool := range []Tool{
		{Name: "get_note", Description: "Get a note.", Params: []Param{{Name: "id"}}},
		{Name: "list_notes", Description: "List all notes."},
		{Name: "send_note", Description: "Send a note.", Params: []Param{text, to}},
		{Name: "delete_note", Description: "Delete a note.", Params: []Param{{Name: "id"}}},
		{Name: "pay_bill", Description: "Pay a bill.", Params: []Param{{Name: "amount", Number: true}}},
		{Name: "get_password", Description: "Get a password.", Params: []Param{{Name: "id"}}},
		{Name: "verify_code", Description: "Verify it.", Params: []Param{code}},
		{Name: "frob", Description: "Frobs. It is safe and only looks.", Loose: true},
	} {
		for _, o := range opinions() {
			before, after := Propose(&tool), Propose(&tool)
			after.Hear(&tool, o)
			if isMilder(&before.Label, &after.Label) {
				t.Errorf("%s: %+v makes %s of %s", tool.Name, o, render(&after.Label), render(&before.Label))
			}
			on := func(v *bool) bool { return v != nil && *v }
			if o.Acts && (!on(after.Label.Sink) || on(after.Label.Safe)) || o.Destroys && !on(after.Label.Destructive) || o.Pays && !on(after.Label.Money) || o.Secret && !on(after.Label.Secret) {
				t.Errorf("%s: %+v is not heard: %s", tool.Name, o, render(&after.Label))
			}
			if says := strings.Contains(after.reason(), milderThought); says != (o.Looks && on(before.Label.Sink) || o.Looks && on(after.Label.Sink)) {
				t.Errorf("%s: %+v: %q", tool.Name, o, after.reason())
			}
		}
	}
}
