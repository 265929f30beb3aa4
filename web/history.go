package web

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/verifier"
)

// historyView is what the agents did and wanted to do, one row a call.
type historyView struct {
	Query   recordQuery
	Rows    []callRow
	Older   string // the link to what comes before
	Stopped bool   // the search went no further
	Fault   string
}

// callRow is one call and what became of it.
type callRow struct {
	At             time.Time
	Decision, Sign string
	What           channels.Headline
	Who            string // what decided it
	Why            []string
	Told           string // what the agent read
	Params         string
	Agent, Level   string
	Talk, TalkName string // the conversation's hash, and what it is called
	Ref            string
}

// history shows the latest calls, or those that a search finds.
func (b *records) history(w http.ResponseWriter, r *http.Request, m *member) {
	q := readQuery(r.URL.Query())
	q.Kind = string(audit.KindDecision)
	v := historyView{Query: q}
	found := b.reader.find(r.Context(), q, func(l *audit.Line) bool {
		if !l.Replay { // the same call, sent again
			v.Rows = append(v.Rows, newCallRow(&l.Entry))
		}
		return len(v.Rows) < onePage
	})
	v.Fault, v.Stopped = found.Fault, found.Stopped
	if found.Before > 0 {
		v.Older = q.link("history", found.Before)
	}
	b.show(w, r, m, "history", view{Title: "History", At: "history", History: v})
}

// newCallRow is a row of an entry that says what became of a call, or of a conversation.
func newCallRow(e *audit.Entry) callRow {
	c := session.Conversation{Client: e.Client, Key: e.Session}
	v := callRow{
		At: e.At, Decision: e.Decision, Sign: "·", Who: decidedBy(e), Told: foreignText(e.Reason), Agent: foreign(e.Agent), Level: levelAfter(e),
		Talk: c.Hash(), TalkName: talkName(c), Ref: e.Ref, What: did(e),
	}
	switch e.Decision {
	case audit.Allow:
		v.Sign = "✓"
	case audit.Deny:
		v.Sign = "✗"
	}
	for _, s := range append(e.Why[:len(e.Why):len(e.Why)], e.Origins...) {
		v.Why = append(v.Why, foreignText(s))
	}
	if len(e.Params) > 0 {
		v.Params = readable(e.Params)
	}
	return v
}

// did says in words what an entry is about.
func did(e *audit.Entry) channels.Headline {
	switch {
	case e.Kind == audit.KindReset:
		return channels.Headline{Says: "Trust was reset"}
	case e.Kind == audit.KindRevoke:
		return channels.Headline{Says: "A grant was ended"}
	case e.Kind == audit.KindConsent:
		return channels.Headline{Says: "A standing consent was given"}
	case e.Tool == "":
		return channels.Headline{Says: "A call that could not be read"}
	}
	return channels.Head(&approval.Ask{Tool: e.Tool, Sent: e.Sent, Shown: e.Params})
}

// decidedBy says who or what decided a call.
func decidedBy(e *audit.Entry) string {
	var names []string
	for _, p := range e.People {
		names = append(names, foreign(p.Name))
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case e.Error == "unanswered":
		return "no answer yet"
	}
	return cmp.Or(map[string]string{verifier.ByGrant: "your grant", verifier.ByStanding: "your standing consent", verifier.ByDestination: "your grant for the same destination", verifier.ByOwnWords: "your own words", verifier.ByCompletes: "completes what you approved", "auditor": "the auditor", "scope": "not in scope"}[e.By], "policy")
}

// foreignText is a sentence with what others wrote in it, as it can be seen.
func foreignText(s string) string {
	text, _ := channels.Safe(s, channels.Form{Limit: 500})
	return text
}

// firstCall is what the first call of a conversation did, by its line in the record.
func firstCall(raw []byte) string {
	for l, err := range audit.Read(bytes.NewReader(append(raw, '\n'))) {
		if err == nil {
			h := did(&l.Entry)
			return h.String()
		}
	}
	return ""
}

// readable is JSON in lines, with every character that can't be seen shown by its number.
func readable(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return "" // the record was damaged: its own view shows that
	}
	text, _ := channels.Safe(string(v), channels.Form{Lines: true})
	return text
}
