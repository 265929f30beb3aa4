package hook

import (
	"maps"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The owner may let a call run with other arguments. The agent is handed these, and what is noted of the call is about them. What the agent can't run that way is refused.

// takesEdits reports whether the agent runs other arguments of this call than its own. Older versions of it, or of our plugin, run their own instead.
// A plan or a question for the user has none; in its dialog, the gate before a server of tools expects the call as it was. Codex takes none beside its dialog.
func (r *run) takesEdits(name string) bool {
	can := r.Edits
	if r.agent.plugin {
		can = r.in.Edits
	}
	if !can || r.forUser() {
		return false
	}
	return r.agent.events[r.in.Event] == call || !r.agent.dialogs && !strings.HasPrefix(name, mcp)
}

// edit makes the call the one that the owner lets run instead. Asked are the arguments that were asked about.
func (r *run) edit(v *verdict, takes bool, asked jsontext.Value) error {
	if !takes {
		return failure("The verifier answered with other arguments, which this agent can't run. Nothing was run.")
	}
	before := r.in.about()
	params, err := r.in.withoutDirectory(v.Params, asked)
	if err != nil {
		return err
	}
	if r.agent.keeps && !sameNames(params, r.in.Params) {
		return failure("The owner added an argument or left one out, which this agent can't do. Nothing was run.")
	}
	r.in.Params = params
	if r.agent.events[r.in.Event] == permission {
		return r.keepEdited(question{about: before})
	}
	return nil
}

// withoutDirectory takes out the directory that was added to what was asked about: the agent does not know that argument, so it can't be changed.
func (in *input) withoutDirectory(params, asked jsontext.Value) (jsontext.Value, error) {
	if member(in.Params, addedDirectory) != "" || member(asked, addedDirectory) != in.CWD || in.CWD == "" {
		return params, nil
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(params, &members); err != nil {
		return nil, failure("The verifier's answer can't be understood. Nothing was run.")
	}
	if member(params, addedDirectory) != in.CWD {
		return nil, failure("The owner changed the directory in which the command runs, which this agent can't do. Nothing was run.")
	}
	delete(members, addedDirectory)
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return nil, failure("The verifier's answer can't be understood. Nothing was run.")
	}
	return text, nil
}

// sameNames reports whether two objects have members of the same names.
func sameNames(a, b jsontext.Value) bool {
	var one, other map[string]jsontext.Value
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return false
	}
	return maps.EqualFunc(one, other, func(_, _ jsontext.Value) bool { return true })
}

// keepEdited notes the call as the owner changed it, under the id that the question was opened with: the agent's dialog does not know it.
func (r *run) keepEdited(q question) error {
	entries, _ := os.ReadDir(r.notes.session(r.who.key)) // then there is no note to compare with
	_, end := r.judged()
	for _, e := range entries {
		if !q.fits(e.Name()) {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(e.Name(), openQuestion), "-")
		if err := r.notes.put(r.who.key, judgedCall+id+"-"+end); err != nil {
			return err
		}
	}
	return nil
}
