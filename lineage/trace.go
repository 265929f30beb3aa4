package lineage

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Source is where something was seen: a message of the user, or the output of a
// tool.
type Source struct {
	User   bool        `json:"user,omitzero"`
	Tool   string      `json:"tool,omitzero"`
	Origin string      `json:"origin,omitzero"` // where the tool had it from, for people: a host or a file
	Level  taint.Level `json:"level"`
	Call   int         `json:"call"`            // which call of the conversation brought it, counted by the caller
	Secret bool        `json:"secret,omitzero"` // it came from a place where secrets are kept, or holds one
}

// Seen is what is kept of one message or output.
type Seen struct {
	Source
	Fingerprints []Fingerprint `json:"fingerprints"`
	Truncated    bool          `json:"truncated,omitzero"`
}

// From says where an argument, or a part of one, came from.
type From string

// What can be said of an argument.
const (
	Nothing From = "nothing" // nothing in it can be compared: it is short, or no text
	User    From = "user"    // all of it was said by the user
	Partly  From = "partly"  // its values were said by the user, or some of its words; not all of it
	Nowhere From = "nowhere" // a value in it was seen nowhere, or none of its words; nothing came from a tool
	Tool    From = "tool"    // something in it came from a tool and was not said by the user
)

// Part is one thing in an argument.
type Part struct {
	Kind    Kind
	Text    string // as the argument has it, folded; "" for word runs
	From    From
	Source  Source // of From Tool
	Matched int    // of word runs: how many were seen there
	Of      int    // of word runs: how many there are

}

// Argument is one text or number among a call's params.
type Argument struct {
	Path   string // "to", "edits[0].newText"
	From   From
	Source Source // of From Tool: the least trusted, of several the latest
	Parts  []Part
	Cut    bool // only its beginning was looked at
}

// Limits of what is said about one call.
const (
	MaxArguments = 256
	maxParts     = 64 // of one argument; all are looked at
)

// Index finds fingerprints. Make it once for what a conversation has seen.
type Index struct {
	user map[Fingerprint]bool
	tool map[Fingerprint]Source
}

// NewIndex makes an index of what was seen.
func NewIndex(seen []Seen) *Index {
	x := &Index{user: map[Fingerprint]bool{}, tool: map[Fingerprint]Source{}}
	for _, s := range seen {
		for _, f := range s.Fingerprints {
			if s.User {
				x.user[f] = true
			} else if old, ok := x.tool[f]; !ok || compare(s.Source, old) > 0 {
				x.tool[f] = s.Source
			}
		}
	}
	return x
}

// compare puts what holds secrets last, then the less trusted source, of several the latest.
func compare(a, b Source) int {
	if a.Secret != b.Secret {
		if a.Secret {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Call, b.Call))
}

// Trace says of each argument where it came from. Keys are those of the client:
// more than one while its secret is being replaced. Params that are no valid
// JSON have no arguments. Where the context ends first, nothing is said.
func (x *Index) Trace(ctx context.Context, params jsontext.Value, keys ...Key) ([]Argument, error) {
	var out []Argument
	said, left := walked(params), MaxChars // in all arguments together: no call takes longer
	for _, l := range said.found {
		a, used, err := x.argument(ctx, l, left, keys)
		if err != nil {
			return nil, err
		}
		if said.more && a.From == User {
			a.From = Partly // what was not looked at may have the same path
		}
		left -= used
		out = append(out, a)
	}
	return out, nil
}

func (x *Index) argument(ctx context.Context, l leaf, left int, keys []Key) (a Argument, used int, _ error) {
	f := foldUpTo(l.text, left)
	t := tracing{index: x, keys: keys, folded: f, said: make([]bool, len(f.chars))}
	if err := t.values(ctx, scanValues(f)); err != nil {
		return a, 0, err
	}
	t.wholeNumber()
	if err := t.runs(ctx, wordRuns(f)); err != nil {
		return a, 0, err
	}
	from, source := t.verdict()
	return Argument{Path: l.path, From: from, Source: source, Parts: shown(t.parts), Cut: f.cut}, len(f.chars), nil
}

// shown cuts a long list of parts; what came from a tool is cut last.
func shown(parts []Part) []Part {
	if len(parts) <= maxParts {
		return parts
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(rank[a.From], rank[b.From]) })
	return parts[:maxParts]
}

var rank = map[From]int{Tool: 0, Nowhere: 1, User: 2}

// tracing is the work on one argument.
type tracing struct {
	index *Index
	keys  []Key
	*folded
	said  []bool // which characters the user said
	parts []Part
}

func (t *tracing) find(i item) (From, Source) {
	from, source := Nowhere, Source{}
	for _, k := range t.keys {
		f := k.Of(i.kind, i.value)
		if t.index.user[f] {
			return User, Source{}
		}
		if s, ok := t.index.tool[f]; ok && (from == Nowhere || compare(s, source) > 0) {
			from, source = Tool, s
		}
	}
	return from, source
}

// values looks up each value. The host of a link or an address is reported only
// where the whole of it was seen nowhere.
func (t *tracing) values(ctx context.Context, items []item) error {
	known := item{from: -1}
	for _, i := range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i.kind == Host && i.from == known.from && i.to == known.to {
			continue
		}
		from, source := t.find(i)
		if from != Nowhere {
			known = i
		}
		if from == User {
			t.mark(i)
		}
		t.parts = append(t.parts, Part{Kind: i.kind, Text: t.slice(i.from, i.to), From: from, Source: source})
	}
	return nil
}

// wholeNumber looks up the number that an argument consists of. Among words a
// small number tells nothing, and here it is reported only where it was seen.
func (t *tracing) wholeNumber() {
	text := strings.TrimSpace(string(t.chars))
	amount := readAmount(text)
	if amount == "" || len(t.parts) > 0 {
		return
	}
	i := item{Amount, amount, 0, len(t.chars)}
	if from, source := t.find(i); from != Nowhere {
		if from == User {
			t.mark(i)
		}
		t.parts = append(t.parts, Part{Kind: Amount, Text: text, From: from, Source: source})
	}
}

func (t *tracing) mark(i item) {
	for c := i.from; c < i.to; c++ {
		t.said[c] = true
	}
}

// runs looks up the runs of words, and tells them source by source.
func (t *tracing) runs(ctx context.Context, items []item) error {
	var user, nowhere int
	tools := map[Source]int{}
	for _, i := range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch from, source := t.find(i); from {
		case User:
			user++
			t.mark(i)
		case Tool:
			tools[source]++
		default:
			nowhere++
		}
	}
	add := func(p Part, n int) {
		if n > 0 {
			p.Kind, p.Matched, p.Of = Words, n, len(items)
			t.parts = append(t.parts, p)
		}
	}
	for source, n := range tools {
		add(Part{From: Tool, Source: source}, n)
	}
	slices.SortStableFunc(t.parts[len(t.parts)-len(tools):], func(a, b Part) int { return -compare(a.Source, b.Source) })
	add(Part{From: User}, user)
	if len(tools) == 0 {
		add(Part{From: Nowhere}, nowhere)
	}
	return nil
}

func (t *tracing) verdict() (From, Source) {
	source, counts, unseen := Source{}, map[From]int{}, false
	for _, p := range t.parts {
		counts[p.From]++
		unseen = unseen || p.From == Nowhere && p.Kind != Words
		if p.From == Tool && (counts[Tool] == 1 || compare(p.Source, source) > 0) {
			source = p.Source
		}
	}
	switch {
	case counts[Tool] > 0:
		return Tool, source
	case unseen, counts[User] == 0 && counts[Nowhere] > 0:
		return Nowhere, source
	case counts[User] == 0:
		return Nothing, source
	case t.allSaid():
		return User, source
	}
	return Partly, source
}

// allSaid reports whether the argument is nothing but what the user said, apart
// from spaces, quotes and the end of a sentence. Marks count: /home/bob is not
// /home/bob/*.
func (t *tracing) allSaid() bool {
	end := len(t.chars)
	for end > 0 && in(t.chars[end-1], " .!?") {
		end--
	}
	for i, c := range t.chars[:end] {
		if !t.said[i] && !in(c, " \"'") {
			return false
		}
	}
	return !t.cut
}

// Origin is what rules and people see of an argument; call is the number of
// the call that has it.
func (a Argument) Origin(call int) session.Origin {
	switch a.From {
	case User:
		return session.Origin{From: session.FromUser, Level: taint.Owner}
	case Tool:
		ago := max(0, call-a.Source.Call)
		return session.Origin{From: session.FromTool, Level: a.Source.Level, Tool: a.Source.Tool, Place: a.Source.Origin, Ago: int64(ago), Secret: a.Source.Secret}
	case Partly, Nowhere, Nothing:
	}
	return session.Origin{From: session.From(a.From), Level: taint.Untrusted}
}

// Origins are those of all arguments of a call. Two that have the same path, as
// {"a.b": …} and {"a": {"b": …}} do, count as the worse of them.
func Origins(arguments []Argument, call int) session.Origins {
	out := make(session.Origins, len(arguments))
	for _, a := range arguments {
		o := a.Origin(call)
		if old, ok := out[a.Path]; !ok || o.Compare(old) < 0 {
			out[a.Path] = o
		}
	}
	return out
}
