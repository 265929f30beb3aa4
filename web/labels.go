package web

import (
	"errors"
	"net/http"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels"
)

// Label is what an included file says of a tool, and nobody has looked at yet.
type Label struct {
	File, Tool string
	Says       string // the label as the file has it
	Why        string // what it rests on
	Seen       string // names all of this: an answer is for what the owner has seen
}

// Labels are the files of labels that the config includes. Nothing here makes a label milder.
type Labels interface {
	// Open are the labels that nobody has looked at, those that let most pass first, and how many there are of all.
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

// mayLabel reports whether a person may answer about labels: the owner, by the owner token, and no other approver. Labels are the owner's policy.
func (p *Page) mayLabel(m *member) bool { return !m.Viewer && m.Person == p.o.Owner }

// labels shows the labels that nobody has looked at.
func (p *Page) labels(w http.ResponseWriter, r *http.Request, m *member) { p.labelled(w, r, m, said{}) }

func (p *Page) labelled(w http.ResponseWriter, r *http.Request, m *member, s said) {
	v := labelsView{Mine: p.mayLabel(m)}
	if p.o.Labels != nil {
		open, all, err := p.o.Labels.Open()
		if err != nil {
			p.o.Log.WarnContext(r.Context(), "the labels could not be read", "err", err)
			v.Fault = "The labels can't be read now: `verifier check` says what is wrong."
		}
		v.All, v.Left = all, len(open)
		for _, l := range open[:min(len(open), mostLabels)] {
			l.Why, l.Says = foreignText(l.Why), foreignText(l.Says)
			v.Open = append(v.Open, l)
		}
	}
	p.show(w, r, m, "labels", view{Title: "Labels", At: "labels", Labels: v, Said: s})
}

// toolName is a tool's name as a person can trust it.
func toolName(s string) string {
	name, _ := channels.Name(s)
	return name
}

// label takes the owner's answer to one label. The record says so first.
func (p *Page) label(w http.ResponseWriter, r *http.Request, m *member) {
	if p.o.Labels == nil || !p.mayLabel(m) {
		http.Error(w, "Labels are for the owner to answer. Nothing was changed.", http.StatusForbidden)
		return
	}
	right := r.PostFormValue("answer") == "right"
	if !right && r.PostFormValue("answer") != "strict" {
		http.Error(w, "An answer is missing. Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	l, err := p.o.Labels.Find(r.PostFormValue("label"))
	if err != nil {
		p.labelled(w, r, m, said{Text: "This label has changed since the page was drawn. Nothing was changed.", Tone: odd})
		return
	}
	note := "calls a label right on the page"
	if !right {
		note = "makes a label strict on the page"
	}
	if err := p.o.Record.Append(audit.Entry{Kind: audit.KindNote, Tool: l.Tool, Note: note, People: []audit.Person{{Name: m.Person, Via: Via, At: p.o.Now().UTC()}}}); err != nil {
		p.unreachable(w, r, err)
		return
	}
	tool := toolName(l.Tool)
	switch err := p.o.Labels.Answer(l, right); {
	case errors.Is(err, ErrLabel):
		p.labelled(w, r, m, said{Text: "This label has changed since the page was drawn. Nothing was changed.", Tone: odd})
	case err != nil:
		p.o.Log.WarnContext(r.Context(), "a file of labels could not be written", "file", l.File, "err", err)
		p.labelled(w, r, m, said{Text: "The gateway can't write " + foreign(l.File) + ", so nothing was changed. Run where the file is:\nverifier label --review --out " + foreign(l.File), Tone: bad})
	case right:
		p.labelled(w, r, m, said{Text: tool + ": the label is right.", Tone: good})
	default:
		p.labelled(w, r, m, said{Text: tool + " is strict: it counts as outside content and as acting, within two seconds.", Tone: good})
	}
}
