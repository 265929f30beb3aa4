package replay

import (
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/lineage"
)

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
