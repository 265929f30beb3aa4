package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Another hook or plugin of the agent may change a call after the gateway has judged it. Nothing can stop that from here, but what
// the agent says of the call afterwards shows it.

// judgedCall begins the names of notes about calls that the gateway let pass, or left to the agent's user.
const judgedCall = "judged-"

// judged is the beginning of the names of notes about this call, and the end of the one about it as it is now. An agent that has no ids
// for its calls has one beginning for all of them.
func (r *run) judged() (begin, end string) {
	exact := r.in.Params.Clone()
	if exact.Canonicalize(jsontext.AllowInvalidUTF8(true)) != nil {
		exact = r.in.Params
	}
	id := r.in.CallID
	if r.noID {
		id = ""
	}
	return judgedCall + shortHash(id) + "-", shortHash(r.in.Tool+"\x00"+string(exact)) + r.in.judgedFrame()
}

// editable are the arguments of Claude Code's tools for files that its user can change in the dialog: the text.
var editable = []string{"content", "old_string", "new_string", "edits", "replace_all"}

// judgedFrame is the end of a note's name about all of a call but the text that the user can change.
func (in *input) judgedFrame() string {
	members := map[string]jsontext.Value{}
	if json.Unmarshal(in.Params, &members, jsontext.AllowInvalidUTF8(true)) != nil {
		return "-"
	}
	for _, name := range editable {
		delete(members, name)
	}
	frame, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "-"
	}
	return "-" + shortHash(in.Tool+"\x00"+string(frame))
}

// keepJudged notes the call as it was judged.
func (r *run) keepJudged() error {
	begin, end := r.judged()
	return r.notes.put(r.who.key, begin+end)
}

// wasChanged reports whether what ran is something else than was judged, and forgets what was judged. Of a call that was judged before
// this hook was there, nothing is known. Where the user changed the text, the text can't be compared, and the rest is: another hook's change of the text
// is not seen then, but the user has seen what was written.
func (r *run) wasChanged() bool {
	begin, end := r.judged()
	dir := r.notes.session(r.who.key)
	entries, _ := os.ReadDir(dir) // then nothing is known
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			names = append(names, e.Name())
		}
	}
	same := slices.Contains(names, begin+end)
	if frame := r.in.judgedFrame(); !same && frame != "-" && r.userEdited() {
		same = slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, frame) })
	}
	for _, name := range names {
		if name == begin+end || !r.noID {
			os.Remove(filepath.Join(dir, name)) //nolint:errcheck // then it is compared with the next call of this id, which there is none of
		}
	}
	return len(names) > 0 && !same
}

// userEdited reports whether Claude Code says that its user changed the text in the dialog or in an editor before it was written. It says so only of its
// own tools for files, never of what a hook has changed, and the user has seen what was written.
func (r *run) userEdited() bool {
	name, own := r.toolName()
	var response struct {
		UserModified bool `json:"userModified"`
	}
	return r.Agent == claudeCode && r.who.attended && own && (name == "edit" || name == "write") &&
		isObject(r.in.Response) && json.Unmarshal(r.in.Response, &response, jsontext.AllowInvalidUTF8(true)) == nil && response.UserModified
}
