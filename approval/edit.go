package approval

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// edits takes a yes to a call with other arguments.
type edits struct {
	*cardStore

	votes      *votes
	heldParams *heldParams
	previews   *previews
}

// A person may change a call's arguments and allow that instead. The changed call is judged like any other, and the yes is bound to its
// digest. It goes to the request that waits, in the process that holds it: nothing of the arguments is stored. They are shown what they change before it counts.

// Editor judges a held call with other params. It returns the question as it would be put about that call. A [*Unfit] says why that call can't pass.
type Editor func(ctx context.Context, params jsontext.Value) (*Ask, error)

// Unfit is why a call with other arguments can't pass, in words for people.
type Unfit struct{ Text string }

func (u *Unfit) Error() string { return "approval: " + u.Text }

// Edit is a call as a person changed it.
type Edit struct {
	Ask     Ask // what is asked about it; Digest is what the yes is bound to
	Changes []EditedMember

	params jsontext.Value // what runs
}

// EditedMember is one argument that a person changed, as it may be shown. Empty: there is none of that name.
type EditedMember struct{ Name, Was, Is string }

// Changed names the arguments that were changed, as they may be shown.
func (e *Edit) Changed() string {
	names := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		names[i] = quote(c.Name)
	}
	return strings.Join(names, ", ")
}

// text says what was changed, in lines of safe text.
func (e *Edit) text() string {
	var b strings.Builder
	for _, c := range e.Changes {
		fmt.Fprintf(&b, "%s: %s → %s\n", quote(c.Name), plainValue(c.Was), plainValue(c.Is))
	}
	return b.String()
}

// plainValue is a JSON value in plain ASCII, with nothing left out.
func plainValue(v string) string {
	if v == "" {
		return "(none)"
	}
	quoted := strconv.QuoteToASCII(v)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// What a person reads whose change can't be taken.
const (
	notEditable = "This call's arguments can't be changed: "
	notHeldHere = "the agent no longer waits for it here. Nothing was approved."
)

// Editable says why the arguments of a card's call can't be changed; "" where they can.
func (ed *edits) Editable(c *Card) string {
	if len(c.Questions) != 1 {
		return notEditable + "the card lists several calls. Open one of them."
	}
	_, why := ed.heldParams.editorOf(&c.Questions[0])
	return why
}

// Draft is what a person begins with who wants to change a call: its arguments as the card shows them, with line breaks.
func (ed *edits) Draft(c *Card) (string, string) {
	if why := ed.Editable(c); why != "" {
		return "", why
	}
	text := c.Questions[0].Ask.Shown.Clone()
	if text.Indent(jsontext.WithIndent("  ")) != nil {
		return "", notEditable + "they can't be shown. Nothing was approved."
	}
	return string(text), ""
}

// edited takes a yes to a call with other arguments. Who gives it was checked before. The first time they are shown what that changes; the same
// answer again counts.
func (ed *edits) edited(ctx context.Context, person, id string, a Answer, most int) (Outcome, error) {
	c, now, err := ed.load(ctx, id)
	switch {
	case err != nil:
		return unreadable(err)
	case c.closed(now):
		return tooLate(c.outcome(c.all(), now)), nil
	}
	if out, err := c.answerable(a.code); out.Text != "" {
		return out, err
	}
	picked, out := c.pick(a.Tool, a.entry)
	switch {
	case picked == nil:
		return out, nil
	case len(picked) > 1:
		return Outcome{Kind: Misunderstood, Card: c, Text: notEditable + "the card lists several calls. Name one."}, nil
	case !a.Allow || a.Scope.Lasting() || a.Scope.Like || a.Scope.Exactly || a.Carrier != nil:
		return Outcome{Kind: Misunderstood, Card: c, Text: "Other arguments can only be allowed once, and not through the agent's own chat. Nothing was approved."}, nil
	}
	return ed.editOne(ctx, person, c, picked[0], a, now, most)
}

// editOne is edited for one question.
func (ed *edits) editOne(ctx context.Context, person string, c *Card, q *Question, a Answer, now time.Time, most int) (Outcome, error) {
	if why, barred := q.Ask.bars(person); barred {
		return Outcome{Kind: Unauthorised, State: Open, Text: why, Card: c}, nil
	}
	if q.state(now) != Open {
		return c.entryTooLate([]*Question{q}, now), nil
	}
	e, why, err := ed.edit(ctx, person, q, []byte(a.Params))
	if why != "" || err != nil {
		return Outcome{Kind: Misunderstood, Card: c, Text: why}, err
	}
	shown := "edit\n" + c.ID + "\n" + person + "\n" + e.Ask.Digest
	if !ed.previews.has(shown) {
		text := "This runs instead:\n" + e.text() + "Everything else stays as it is. Nothing was approved yet: say the same again to allow it once."
		if a.Via != Terminal && a.code != "" && len(text) > mostEditText {
			return Outcome{Kind: Misunderstood, Card: c, Text: "The change is too long to be shown here. Make it on your page. Nothing was approved."}, nil
		}
		ed.previews.note(shown)
		return Outcome{Kind: WantsConfirm, Card: c, Edit: e, Text: text}, nil
	}
	a.entry, a.edit = q.Ask.Digest, e
	return ed.votes.count(ctx, person, c.ID, a, most)
}

// mostEditText is how long a change may be that a chat shows in one message.
const mostEditText = 1500

// edit reads what a person wrote, and has it judged.
func (ed *edits) edit(ctx context.Context, person string, q *Question, text []byte) (*Edit, string, error) {
	held, why := ed.heldParams.editorOf(q)
	if why != "" {
		return nil, why, nil
	}
	wrote, err := toolcall.ReadParams(text)
	if m, ok := errors.AsType[*toolcall.Malformed](err); ok {
		return nil, m.Reason + " Nothing was approved.", nil
	}
	if err != nil {
		return nil, "The arguments can't be read. Nothing was approved.", err
	}
	params, err := unmask(wrote, q.Ask.Shown, held.params)
	switch {
	case errors.Is(err, errMask):
		return nil, errMask.Error() + " Nothing was approved.", nil
	case err != nil:
		return nil, "The arguments can't be read. Nothing was approved.", err
	case len(params) > toolcall.MaxEdited:
		return nil, "The arguments must be at most 32 KiB. Nothing was approved.", nil
	}
	asked, err := held.edit(ctx, params)
	if u, ok := errors.AsType[*Unfit](err); ok {
		return nil, u.Text + " Nothing was approved.", nil
	}
	if err != nil {
		return nil, "The changed call can't be judged now. Nothing was approved; try again.", err
	}
	return ed.fit(person, q, &Edit{Ask: *asked, params: params})
}

// fit says why a changed call can't be allowed by this person here.
func (ed *edits) fit(person string, q *Question, e *Edit) (*Edit, string, error) {
	a := &e.Ask
	a.hide = ed.o.Hide
	ed.terms().bind(a)
	if why, barred := a.bars(person); barred {
		return nil, why, nil
	}
	switch {
	case a.Digest == q.Ask.Digest:
		return nil, "Nothing is changed. To let the call run as it is, allow it. Nothing was approved.", nil
	case a.Approvals > 1:
		return nil, "Several people have to allow the changed call, so you can't make it of this one. Nothing was approved.", nil
	case !ed.canBeShown(e):
		return nil, "The changed call is too long, or holds characters that can't be seen, so it can't be shown in full. Nothing was approved.", nil
	}
	var err error
	e.Changes, err = changes(q.Ask.Shown, a.Shown)
	return e, "", err
}

// canBeShown reports whether all that would run could be shown. What is hidden from the person counts, too: nothing may be behind a mask
// that could not be read without it.
func (ed *edits) canBeShown(e *Edit) bool {
	all := e.Ask
	all.Shown, all.Hidden = e.params, 0
	return ed.o.Detailed != nil && ed.o.Detailed(&all)
}

// changes are the members of two objects that differ.
func changes(was, is jsontext.Value) ([]EditedMember, error) {
	before, err := membersOf(was)
	if err != nil {
		return nil, err
	}
	after, err := membersOf(is)
	if err != nil {
		return nil, err
	}
	var out []EditedMember
	for _, m := range after {
		if old := find(before, m.name); !same(old, m.value) {
			out = append(out, EditedMember{m.name, string(old), string(m.value)})
		}
	}
	for _, m := range before {
		if find(after, m.name) == nil {
			out = append(out, EditedMember{m.name, string(m.value), ""})
		}
	}
	return out, nil
}

// member is one of an object's.
type member struct {
	name  string
	value jsontext.Value
}

func membersOf(object jsontext.Value) (out []member, err error) {
	dec := jsontext.NewDecoder(strings.NewReader(string(object)))
	if _, err = dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() == jsontext.KindString {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		out = append(out, m)
	}
	_, err = dec.ReadToken()
	return out, err
}

func find(members []member, name string) jsontext.Value {
	for _, m := range members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// same reports whether two values are the same, whatever the order of their members. Number literals are compared as they are written.
func same(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return canonical(a) == canonical(b)
}

func canonical(v jsontext.Value) string {
	c := v.Clone()
	if c.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return string(v)
	}
	return string(c)
}

// errMask refuses a change of something that is hidden.
var errMask = errors.New("A hidden value can be left as it is, or replaced as a whole. A list that holds one can only be replaced as a whole.") //nolint:revive,staticcheck // people read it

// unmask makes params of what a person wrote who saw the params only as they may be shown: what they left as it was shown is what it really is.
// A mask anywhere else would run as text, so it is refused.
func unmask(wrote, shown, actual jsontext.Value) (jsontext.Value, error) {
	if same(wrote, shown) {
		return actual, nil
	}
	isObject := func(v jsontext.Value) bool { return v.Kind() == jsontext.KindBeginObject }
	if !isObject(wrote) || !isObject(shown) || !isObject(actual) {
		return wrote, unmasked(wrote)
	}
	wrotes, errWrote := membersOf(wrote)
	showns, errShown := membersOf(shown)
	actuals, errReal := membersOf(actual)
	if err := errors.Join(errWrote, errShown, errReal); err != nil {
		return nil, err
	}
	out := jsontext.Value{'{'}
	for i, m := range wrotes {
		value, err := m.value, unmasked(m.value)
		if was, is := find(showns, m.name), find(actuals, m.name); was != nil && is != nil {
			value, err = unmask(m.value, was, is)
		}
		name, errName := jsontext.AppendQuote(nil, m.name)
		if err = errors.Join(err, errName); err != nil {
			return nil, err
		}
		if isMasked(m.name) {
			return nil, errMask
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// unmasked refuses a value with something in it that looks like a mask, or like what is left of one.
func unmasked(v jsontext.Value) error {
	dec := jsontext.NewDecoder(strings.NewReader(string(v)))
	for {
		t, err := dec.ReadToken()
		if err != nil {
			return nil //nolint:nilerr // it was read before, and this is its end
		}
		if t.Kind() == jsontext.KindString && isMasked(t.String()) {
			return errMask
		}
	}
}

func isMasked(s string) bool {
	return redact.HasMask(s) || strings.Contains(strings.ToUpper(s), "REDACTED") || strings.Contains(s, " chars]")
}
