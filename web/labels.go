package web

import (
	"errors"
	"net/http"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels"
)

// Label is what an included file says of a tool, and no one has looked at yet.
type Label struct {
	File, Tool string
	Says       string // the label as the file has it
	Why        string // what it rests on
	Seen       string // names all of this: an answer is for what the owner has seen
}

// Labels are the files of labels that the config includes. Nothing here makes a label milder.
type Labels interface {
	// Open are the labels that no one has looked at, those that let most pass first, and how many there are of all.
	Open() (open []Label, all int, err error)
	// Find is one of them, as it is now. [ErrLabel] says that it is not, or no longer, among them.
	Find(seen string) (Label, error)
	// Answer writes the owner's answer: the label is right, or it is to be strict. [ErrLabel] as above; any other error says that
	// the file could not be written.
	Answer(l Label, right bool) error
}

// ErrLabel says that a label is not what the owner saw.
var ErrLabel = errors.New("web: the label has changed since it was shown")

// mostLabels is how many labels the page shows at once.
const mostLabels = 50

// labelsView is what the page shows of labels.
type labelsView struct {
	Open      []Label
	Left, All int
	Mine      bool // the person may answer
	Fault     string
}

// labels are the views of labels.
type labels struct{ *site }

// mayLabel reports whether a person may answer about labels: the owner, by the owner token, and no other approver. Labels are the owner's policy.
func (l *labels) mayLabel(m *member) bool { return !m.Viewer && m.Person == l.o.Owner }

// list shows the labels that the owner has not looked at.
func (l *labels) list(w http.ResponseWriter, r *http.Request, m *member, s said) {
	v := labelsView{Mine: l.mayLabel(m)}
	if l.o.Labels != nil {
		open, all, err := l.o.Labels.Open()
		if err != nil {
			l.o.Log.WarnContext(r.Context(), "the labels could not be read", "err", err)
			v.Fault = "The labels can't be read now: `verifier check` says what is wrong."
		}
		v.All, v.Left = all, len(open)
		for _, one := range open[:min(len(open), mostLabels)] {
			one.Why, one.Says = foreignText(one.Why), foreignText(one.Says)
			v.Open = append(v.Open, one)
		}
	}
	l.show(w, r, m, "labels", view{Title: "Labels", At: "labels", Labels: v, Said: s})
}

// toolName is a tool's name as a person can trust it.
func toolName(s string) string {
	name, _ := channels.Name(s)
	return name
}

// label takes the owner's answer to one label. The record says so first.
func (l *labels) label(w http.ResponseWriter, r *http.Request, m *member) {
	if l.o.Labels == nil || !l.mayLabel(m) {
		http.Error(w, "Labels are for the owner to answer. Nothing was changed.", http.StatusForbidden)
		return
	}
	right := r.PostFormValue("answer") == "right"
	if !right && r.PostFormValue("answer") != "strict" {
		http.Error(w, "An answer is missing. Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	one, err := l.o.Labels.Find(r.PostFormValue("label"))
	if err != nil {
		l.list(w, r, m, said{Text: "This label has changed since the page was drawn. Nothing was changed.", Tone: odd})
		return
	}
	note := "calls a label right on the page"
	if !right {
		note = "makes a label strict on the page"
	}
	if err := l.record(r.Context(), audit.Entry{Tool: one.Tool, Note: note}, audit.Person{Name: m.Person}); err != nil {
		l.unreachable(w, r, err)
		return
	}
	tool := toolName(one.Tool)
	switch err := l.o.Labels.Answer(one, right); {
	case errors.Is(err, ErrLabel):
		l.list(w, r, m, said{Text: "This label has changed since the page was drawn. Nothing was changed.", Tone: odd})
	case err != nil:
		l.o.Log.WarnContext(r.Context(), "a file of labels could not be written", "file", one.File, "err", err)
		l.list(w, r, m, said{Text: "The gateway can't write " + foreign(one.File) + ", so nothing was changed. Run where the file is:\nverifier label --review --out " + foreign(one.File), Tone: bad})
	case right:
		l.list(w, r, m, said{Text: tool + ": the label is right.", Tone: good})
	default:
		l.list(w, r, m, said{Text: tool + " is strict: it counts as outside content and as acting, within two seconds.", Tone: good})
	}
}
