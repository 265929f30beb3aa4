package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A question that the hook has left to the agent's dialog is open on the phone as well. Once the user has answered at the
// terminal, the hook tells the gateway, so that the question closes there: by what the call returned, by the end of the hook that
// waited beside the dialog, or by whatever the user does next.

// question says which of a conversation's open questions are meant. What is empty fits any.
type question struct {
	call  string // the call's id, which the agent's dialog does not know
	about string // the tool and its arguments, see [run.about]
}

// openQuestion begins the names of notes about open questions.
const openQuestion = "question-"

// closeWithin is how long the hook takes to tell of an answer, even after it was told to end.
const closeWithin = 700 * time.Millisecond

// answeredThere is a question that was answered at the agent's own terminal.
type answeredThere struct {
	Question string `json:"question"`
	Ran      bool   `json:"ran,omitzero"`
}

// about is what a call is about: the tool and its arguments, without the words in which Codex tells its user why.
func (in *input) about() string {
	members := map[string]jsontext.Value{}
	if json.Unmarshal(in.Params, &members, jsontext.AllowInvalidUTF8(true)) != nil {
		return ""
	}
	delete(members, "description")
	text, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return ""
	}
	return in.Tool + "\x00" + string(text)
}

// passedCall begins the names of notes about calls that the gateway let pass and that have not returned yet. An agent that can't be told to ask
// its user may ask by itself afterwards: that is not put to the gateway once more.
const passedCall = "passed-"

func (r *run) passedNote() string {
	return filepath.Join(r.notes.session(r.who.key), passedCall+shortHash(r.in.about()))
}

// hasPassed reports whether the gateway let this very call pass before.
func (r *run) hasPassed() bool {
	_, err := os.Stat(r.passedNote())
	return err == nil && r.in.about() != ""
}

func (q question) file() string { return openQuestion + shortHash(q.call) + "-" + shortHash(q.about) }

// fits reports whether a note is about such a question.
func (q question) fits(name string) bool {
	hashes, ok := strings.CutPrefix(name, openQuestion)
	call, about, _ := strings.Cut(hashes, "-")
	return ok && (q.call == "" || call == shortHash(q.call)) && (q.about == "" || about == shortHash(q.about))
}

func shortHash(s string) string { return strings.TrimPrefix(hashOf([]byte(s)), "sha256:")[:32] }

// opened notes that a question is open. If the user says yes in the agent's dialog, no hook hears of it before the call runs: so the gate
// before a server lets the call pass from now on, and no longer once the question is closed.
func (n notes) opened(key string, q question, ticket, gated string) error {
	if err := os.WriteFile(filepath.Join(n.made(n.session(key)), q.file()), []byte(ticket+"\n"+gated), 0o600); err != nil {
		return unwritable(n.dir)
	}
	n.pass(gated)
	return nil
}

// close tells the gateway of questions that the user has answered at the terminal, and whether their calls have run. What
// can't be told expires by itself.
func (r *run) close(ctx context.Context, q question, ran bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	dir := r.notes.session(r.who.key)
	entries, _ := os.ReadDir(dir) // see above
	for _, e := range entries {
		if !q.fits(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		text, err := readNote(path)
		ticket, gated, _ := strings.Cut(text, "\n")
		r.notes.spend(gated) // the user has said no, or it has run
		if err == nil {
			err = r.send(ctx, "question_answered", answeredThere{Question: ticket, Ran: ran}, "")
		}
		if err == nil {
			os.Remove(path) //nolint:errcheck // it is reported again, and changes nothing
		}
	}
}
