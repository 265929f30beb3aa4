package replay

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/policy"
)

// Audited is what the second model said of calls, by a record, and what people
// made of it. The same call in the same conversation counts once, however often
// the agent tried.
type Audited struct {
	Asked     int           `json:"asked"`     // calls that it was asked about
	Blocked   int           `json:"blocked"`   // that it was against
	Silent    int           `json:"silent"`    // of which it said nothing
	Overruled int           `json:"overruled"` // that a person allowed although it was against them
	Tools     []AuditedItem `json:"tools"`     // what it was against, the most first
	Patterns  []AuditedItem `json:"patterns"`
}

// AuditedItem is one kind of calls that it was against.
type AuditedItem struct {
	Name      string `json:"name"`
	Blocked   int    `json:"blocked"`
	Overruled int    `json:"overruled"`
}

// Auditing collects it, line by line.
type Auditing struct {
	calls map[string]*auditedCall
	order []string
}

type auditedCall struct {
	tool, pattern            string
	blocked, silent, allowed bool
}

// ReadAudited reads a record, plain or compressed with gzip. What is no decision
// is passed over.
func (a *Auditing) ReadAudited(from io.Reader) error {
	return eachEntry(from, a.Add)
}

// Add takes in an entry.
func (a *Auditing) Add(e *audit.Entry) {
	if e.Kind != audit.KindDecision || e.Auditor == "" || e.Replay {
		return
	}
	key := strings.Join([]string{e.Client, e.Session, e.SessionID, e.Tool, e.Digest}, "\x00")
	c := a.calls[key]
	if c == nil {
		if a.calls == nil {
			a.calls = map[string]*auditedCall{}
		}
		c = &auditedCall{tool: doing(e), pattern: patternOf(e)}
		a.calls[key] = c
		a.order = append(a.order, key)
	}
	c.blocked = c.blocked || e.Auditor == "block"
	c.silent = c.silent || e.Auditor == "none"
	c.allowed = c.allowed || e.Auditor == "block" && e.Decision == audit.Allow && e.By == "person"
}

// Report is what has come together.
func (a *Auditing) Report() Audited {
	out := Audited{Asked: len(a.order)}
	tools, patterns := map[string]*AuditedItem{}, map[string]*AuditedItem{}
	for _, key := range a.order {
		c := a.calls[key]
		if c.silent && !c.blocked {
			out.Silent++
		}
		if !c.blocked {
			continue
		}
		out.Blocked++
		if c.allowed {
			out.Overruled++
		}
		tallyItem(tools, c.tool, c.allowed)
		tallyItem(patterns, c.pattern, c.allowed)
	}
	out.Tools, out.Patterns = mostBlocked(tools), mostBlocked(patterns)
	return out
}

func tallyItem(to map[string]*AuditedItem, name string, overruled bool) {
	if to[name] == nil {
		to[name] = &AuditedItem{Name: name}
	}
	to[name].Blocked++
	if overruled {
		to[name].Overruled++
	}
}

func mostBlocked(items map[string]*AuditedItem) []AuditedItem {
	out := make([]AuditedItem, 0, len(items))
	for _, i := range items {
		out = append(out, *i)
	}
	slices.SortFunc(out, func(a, b AuditedItem) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), strings.Compare(a.Name, b.Name))
	})
	return out
}

// doing names a call by its tool and its action, where it says one.
func doing(e *audit.Entry) string {
	var params struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(e.Params, &params) != nil || params.Action == "" || len(params.Action) > 40 {
		return e.Tool
	}
	return e.Tool + " " + params.Action
}

// noPattern is what a call is counted under that the policy would have let pass.
const noPattern = "none: the policy let it pass"

// patternOf is the pattern that the decision names.
func patternOf(e *audit.Entry) string {
	for _, why := range e.Why {
		if name := policy.Pattern(why); name != "" {
			return name
		}
	}
	return noPattern
}
