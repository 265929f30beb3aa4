package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// AlwaysItem is the narrowest yes that would have covered questions which were
// always answered yes, and none that was denied or left unanswered.
type AlwaysItem struct {
	Tool         string            `json:"tool"`
	Destinations map[string]string `json:"destinations,omitempty"` // by param; none: exactly this call
	Params       jsontext.Value    `json:"params,omitempty"`       // of exactly this call, as the record has them
	Agent        string            `json:"agent"`
	Level        string            `json:"level"` // the worst at which it was allowed
	Times        int               `json:"times"`
	Acceptable   bool              `json:"acceptable"` // a standing consent can cover it: see Consent

	client, like, folded, spelled string
}

// Spelled is [lineage.Spelled] of the calls.
func (i *AlwaysItem) Spelled() string { return i.spelled }

// Consent is the standing consent that covers just these questions; false where there can be none.
func (i *AlwaysItem) Consent() (session.Grant, bool) {
	level, err := taint.ParseLevel(i.Level)
	return session.Grant{Conversation: session.Conversation{Client: i.client}, Tool: i.Tool, Agent: i.Agent, Like: session.StandingLike(i.like), Level: level},
		err == nil && i.Acceptable
}

// Loading collects it, entry by entry. Policy says where calls go; entries from
// before Since don't count.
type Loading struct {
	Policy       *policy.Policy
	Since, Until time.Time

	asked map[string]*question
	order []*question
}

type question struct {
	entry   audit.Entry
	edited  bool   // a person allowed it with other arguments only
	there   bool   // it was answered at the agent's own terminal, and not by a yes
	verdict string // audit.Allow, audit.Deny, "expired", "withdrawn" or ""
}

// leastTimes is how often something must have been allowed to be worth a line.
const leastTimes = 3

// Add takes in an entry. A test question counts as none.
func (l *Loading) Add(e *audit.Entry) {
	key := e.Card + "\x00" + e.Digest
	switch q := l.asked[key]; {
	case e.Kind == audit.KindAsked && q == nil && e.Note == "" && !e.At.Before(l.Since) && !e.At.After(l.Until):
		if l.asked == nil {
			l.asked = map[string]*question{}
		}
		q = &question{entry: *e}
		l.asked[key], l.order = q, append(l.order, q)
	case e.Kind == audit.KindAnswer && q != nil:
		q.answer(e)
	}
}

// answer takes in what became of a question: the first no, or the last yes where several people have to agree.
func (q *question) answer(e *audit.Entry) {
	switch {
	case q.verdict == audit.Deny:
	case e.Decision != "":
		q.verdict, q.edited = e.Decision, q.edited || e.Edited != ""
	case q.verdict != "":
	case strings.HasPrefix(e.Note, "expired"):
		q.verdict = "expired"
	case strings.HasPrefix(e.Note, "withdrawn"):
		q.verdict, q.there = "withdrawn", e.Note == approval.WithdrawnNote(approval.ClosedThere)
	}
}

// refused reports whether a person said no, also by changing the call or at the agent's own terminal.
func (q *question) refused() bool { return q.verdict == audit.Deny || q.edited || q.there }

// Always finds what was always allowed. One question of the same kind that was not, at any level, by any agent and in any spelling, and
// there is none. If one of a tool was refused and the record hides what it was, there is none for the tool.
func (l *Loading) Always() []AlwaysItem {
	items, refused, unknown := map[string]*AlwaysItem{}, map[string]bool{}, map[string]bool{}
	for _, q := range l.order {
		if q.verdict != audit.Allow || q.edited {
			if said := folded(&q.entry, l.contentOf(&q.entry)); said != "" {
				refused[said] = true
			} else {
				unknown[q.entry.Tool] = true
			}
			continue
		}
		i, key := l.narrowest(&q.entry)
		switch {
		case i == nil:
			continue
		case items[key] == nil:
			items[key] = i
		}
		items[key].Times++
		if worse(i.Level, items[key].Level) {
			items[key].Level = i.Level
		}
	}
	out := []AlwaysItem{}
	for _, i := range items {
		if i.Times >= leastTimes && !refused[i.folded] && !unknown[i.Tool] {
			out = append(out, *i)
		}
	}
	slices.SortFunc(out, func(a, b AlwaysItem) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Tool, b.Tool), strings.Compare(string(a.Params), string(b.Params)))
	})
	return out
}

func worse(a, b string) bool {
	first, err1 := taint.ParseLevel(a)
	second, err2 := taint.ParseLevel(b)
	return err1 == nil && err2 == nil && first > second
}

// narrowest is the narrowest lasting yes that covers a question: calls of its tool to the same destinations, or exactly it. There is none for
// what no lasting yes covers, and for what the record hides.
func (l *Loading) narrowest(e *audit.Entry) (i *AlwaysItem, key string) {
	var members map[string]jsontext.Value
	if e.Hidden > 0 || json.Unmarshal(e.Params, &members) != nil {
		return nil, ""
	}
	call, plan := l.plan(e)
	if !plan.Grantable {
		return nil, ""
	}
	i = &AlwaysItem{Tool: e.Tool, Agent: e.Agent, Level: e.Level, client: e.Client, folded: folded(e, plan.Content), spelled: lineage.Spelled(e.Tool, e.Params, plan.Content)}
	i.like = lineage.AlikeOf(e.Params, plan.Destinations, plan.Content).In(e.Directory)
	i.Acceptable = i.like != "" && e.Agent != "" && !plan.Shell && !plan.Marked(call)
	parts := []string{e.Client, e.Agent, e.Tool, e.Directory}
	if len(plan.Destinations) == 0 {
		i.Params = e.Params
		return i, strings.Join(append(parts, string(e.Params)), "\x00")
	}
	i.Destinations = map[string]string{}
	for name, value := range members { // all but what may differ counts as a destination
		if !slices.Contains(plan.Content, name) {
			i.Destinations[name] = strings.Trim(string(value), `"`)
		}
	}
	text, err := json.Marshal(i.Destinations, json.Deterministic(true))
	if err != nil {
		return nil, ""
	}
	return i, strings.Join(append(parts, string(text)), "\x00")
}

// plan is what the policy says of a question's call.
func (l *Loading) plan(e *audit.Entry) (*toolcall.Call, policy.Plan) {
	call := &toolcall.Call{Client: e.Client, Tool: e.Tool, Sent: e.Tool, Params: e.Params, Context: toolcall.Context{AgentID: e.Agent, SessionKey: e.Session}}
	return call, l.Policy.Plan(call)
}

func (l *Loading) contentOf(e *audit.Entry) []string {
	_, plan := l.plan(e)
	return plan.Content
}

// folded is [lineage.Folded] of a question. It is empty where the record hides a part.
func folded(e *audit.Entry, content []string) string {
	if e.Hidden > 0 {
		return ""
	}
	return lineage.Folded(e.Tool, e.Params, content)
}

// Precedents are what a record says of questions that are like one.
type Precedents struct {
	Known   bool          // the question is in the record, and nothing of it is hidden there: it can be compared with others
	Allowed []audit.Entry // those that people allowed at no worse level, the latest first: what a standing consent for its like would have covered
	Silent  int           // of its like, those that no one answered in time
	Denied  int           // those that people denied or changed, also at the agent's own terminal; at any level, by any agent, in any directory and in any spelling
	Hidden  int           // those of its tool that people denied or changed and that can't be compared, since the record hides a part
}

// Precedents compares the question that a card asks about a call, by its digest, with all others.
func (l *Loading) Precedents(card, digest string) (p Precedents) {
	this := l.asked[card+"\x00"+digest]
	if this == nil {
		return p
	}
	e := &this.entry
	like, spelled := l.likeOf(e)
	if spelled == "" {
		return p
	}
	p.Known = true
	for i := len(l.order) - 1; i >= 0; i-- {
		q := l.order[i]
		if q == this || q.entry.Tool != e.Tool {
			continue
		}
		otherLike, otherSpelled := l.likeOf(&q.entry)
		same := like != "" && like == otherLike && q.entry.Client == e.Client && q.entry.Agent == e.Agent && !worse(q.entry.Level, e.Level)
		switch refused := q.refused(); {
		case refused && otherSpelled == "":
			p.Hidden++
		case refused && otherSpelled == spelled:
			p.Denied++
		case !refused && q.verdict == audit.Allow && same:
			p.Allowed = append(p.Allowed, q.entry)
		case q.verdict == "expired" && same:
			p.Silent++
		}
	}
	return p
}

// likeOf is what a question's call has in common with those that a standing consent for it covers, and what it is about however it is spelled.
func (l *Loading) likeOf(e *audit.Entry) (like, spelled string) {
	_, plan := l.plan(e)
	if spelled = folded(e, plan.Content); spelled == "" {
		return "", ""
	}
	if plan.Shell {
		return string(e.Params) + "\x00" + e.Directory, spelled
	}
	return lineage.AlikeOf(e.Params, plan.Destinations, plan.Content).In(e.Directory), spelled
}
