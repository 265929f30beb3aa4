package approval

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// What is hidden in a call, and what a person makes of it, is in the request that waits for the answer, nowhere else.

// ErrNotHeld says that the call no longer waits in this process, so what was hidden in it is gone.
var ErrNotHeld = errors.New("approval: the call is not held here")

// Open shows an approver what a call writes to files, where the config hides it on cards, with secrets still hidden; or
// all of its params as they came. They are on c then. That they were shown is recorded first. A call that does not wait
// in this process stays hidden.
func (d *Desk) Open(ctx context.Context, a Answer, c *Card, all bool) error { //nolint:gocritic // a channel's answer
	read, err := d.showHidden(&a, c, all)
	if err != nil {
		return err
	}
	return read(ctx)
}

// showHidden records that a person is shown more of a call than its card shows, and puts that on the card they see:
// what it writes to files, or all. Who may not allow the call need not see it. read notes on the stored card that the
// person has it: from then on they can allow it.
func (d *Desk) showHidden(a *Answer, c *Card, all bool) (read func(context.Context) error, err error) {
	if !all && (c.Ask.Bodies == 0 || d.o.Bodies == nil) {
		return func(context.Context) error { return nil }, nil
	}
	held := d.waiters.held(c.ID)
	switch {
	case !d.MayAnswer(a.ID, c):
		return nil, ErrNotApprover
	case len(held) == 0 || held[0].request.Whole == nil:
		return nil, ErrNotHeld
	}
	person, e := d.terms().people[a.ID], entryFor(record.KindNote, c)
	e.Note, e.People = "what is hidden in the call was shown", []record.Person{{Name: person, Via: a.Via}}
	if err := d.o.Record.Append(e); err != nil {
		return nil, err
	}
	switch {
	case !all:
		c.Ask.Shown, c.Ask.Hidden = d.o.Bodies(&c.Ask, held[0].request.Whole)
	case c.Ask.HeldOnly || redact.HasMask(c.Ask.Tool): // the client hid something, or the tool's name is a secret
		c.Ask.Shown, c.Ask.Hidden = held[0].request.Whole, 1
	default:
		c.Ask.Shown, c.Ask.Hidden = held[0].request.Whole, 0
	}
	c.Ask.Bodies = 0
	whole := d.o.Detailed(&c.Ask)
	return func(ctx context.Context) error {
		_, err := d.change(ctx, c, func(_ *store.Tx, c *Card) bool {
			before, known := c.Readers[person]
			if c.Readers == nil {
				c.Readers = make(map[string]bool)
			}
			c.Readers[person] = before || whole
			return !known || whole && !before
		})
		return err
	}, nil
}

// showAll is the outcome of a tap on More: the card with all that may be shown. What was hidden counts as read when
// the channel says that it has delivered it.
func (an *answering) showAll(ctx context.Context, c *Card) Outcome {
	read, err := an.showHidden(an.Answer, c, false)
	if err != nil {
		an.o.Log.WarnContext(ctx, "what a call writes could not be shown", "ref", c.Ref(), "err", err)
		return Outcome{Kind: Shown, Card: c}
	}
	return Outcome{Kind: Shown, Card: c, delivered: func(ctx context.Context) {
		if err := read(ctx); err != nil {
			an.o.Log.WarnContext(ctx, "that a person was shown what a call writes was not noted", "err", err)
		}
	}}
}

// A person may change a call's arguments and allow that instead, on the page or with `verifier approve --with`. The
// changed call is judged like any other, and the yes is bound to its digest. It goes to the request that waits in the
// process where they changed it: nothing of the arguments is stored. They are shown what they change before it
// counts.

// Editor judges a held call with other params. It returns the question as it would be put about that call. A [*Unfit]
// says why that call can't pass.
type Editor func(ctx context.Context, params jsontext.Value) (*Ask, error)

// Unfit is why a call with other arguments can't pass, in words for people.
type Unfit struct{ Text string }

func (u *Unfit) Error() string { return u.Text }

// Edit is a call as a person changed it.
type Edit struct {
	Ask     Ask // what is asked about it; Digest is what the yes is bound to
	Changes []EditedMember

	params jsontext.Value // what runs
}

// EditedMember is one argument that a person changed, as it may be shown. Empty: there is none of that name.
type EditedMember struct{ Name, Was, Is string }

// text says what was changed, in lines of plain ASCII with nothing left out.
func (e *Edit) text() string {
	plain := func(v string) string {
		if v == "" {
			return "(none)"
		}
		quoted := strconv.QuoteToASCII(v)
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
	}
	var b strings.Builder
	for _, c := range e.Changes {
		b.WriteString(quote(c.Name) + ": " + plain(c.Was) + " → " + plain(c.Is) + "\n")
	}
	return b.String()
}

// editor is a request that waits here and can run other params; an [*Unfit] says why there is none.
func (d *Desk) editor(c *Card) (*waiter, error) {
	held := d.waiters.held(c.ID)
	var why string
	switch {
	case c.Ask.Approvals > 1:
		why = "several people have to allow the same call."
	case c.Ask.HeldOnly:
		why = "parts of it were hidden before they reached us."
	case len(held) == 0:
		why = "the agent no longer waits for it here."
	case held[0].request.Edit == nil:
		why = "the agent's software can't run other arguments than its own."
	default:
		return held[0], nil
	}
	return nil, &Unfit{"This call's arguments can't be changed: " + why}
}

// Draft is what a person begins with who wants to change a call: its arguments as the card shows them, with line
// breaks; or why they can't be changed.
func (d *Desk) Draft(c *Card) (text, why string) {
	if _, err := d.editor(c); err != nil {
		return "", err.Error()
	}
	shown := c.Ask.Shown.Clone()
	if shown.Indent(jsontext.WithIndent("  ")) != nil {
		return "", "This call's arguments can't be shown."
	}
	return string(shown), ""
}

// edited takes a yes to a call with other arguments. Who gives it was checked before.
func (an *answering) edited(ctx context.Context, c *Card) (Outcome, error) {
	if o := an.refuse(c, time.Time{}); o.Text != "" {
		return o, nil
	}
	w, err := an.editor(c)
	if !an.Allow || an.Scope.Lasting() || an.Scope.Target != AnyCall {
		err = &Unfit{"Other arguments can only be allowed once."}
	}
	if err == nil {
		an.made, err = an.edit(ctx, c, w)
	}
	if u, ok := errors.AsType[*Unfit](err); ok {
		return misunderstood(c, u.Text+" Nothing was approved."), nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if an.Confirm != an.made.Ask.Digest {
		return Outcome{Kind: WantsConfirm, Card: c, Edit: an.made, Text: "This runs instead:\n" + an.made.text() +
			"Everything else stays as it is. Nothing was approved yet."}, nil
	}
	w.edit.Store(an.made)
	return an.count(ctx, c)
}

// edit reads what the person wrote and has it judged. An [*Unfit] says why it can't be allowed by them here.
func (an *answering) edit(ctx context.Context, c *Card, w *waiter) (*Edit, error) {
	params, err := protocol.ReadParams([]byte(an.Params))
	if m, ok := errors.AsType[*protocol.Malformed](err); ok {
		return nil, &Unfit{m.Reason}
	}
	if err == nil {
		params, err = unmask(params, c.Ask.Shown, w.request.Whole)
	}
	if err == nil && len(params) > protocol.MaxEdited {
		err = &Unfit{"The arguments must be at most 32 KiB."}
	}
	if err != nil {
		return nil, err
	}
	asked, err := w.request.Edit(ctx, params)
	if err != nil {
		return nil, err
	}
	e := &Edit{Ask: *asked, params: params}
	e.Ask.hide = an.o.Hide
	an.terms().bind(&e.Ask)
	whole := e.Ask // nothing may be behind a mask that could not be read without it
	whole.Shown, whole.Hidden = params, 0
	switch why := e.Ask.bars(an.person); {
	case why != "":
		return nil, &Unfit{why}
	case e.Ask.Digest == c.Ask.Digest:
		return nil, &Unfit{"Nothing is changed. To let the call run as it is, allow it."}
	case e.Ask.Approvals > 1:
		return nil, &Unfit{"Several people have to allow the changed call."}
	case !an.o.Detailed(&whole):
		return nil, &Unfit{"The changed call is too long, or holds characters that can't be seen, " +
			"so it can't be shown in full."}
	}
	e.Changes, err = changes(c.Ask.Shown, e.Ask.Shown)
	return e, err
}

// changes are the members of two objects that differ.
func changes(was, is jsontext.Value) (out []EditedMember, err error) {
	var before, after map[string]jsontext.Value
	err = errors.Join(json.Unmarshal(was, &before), json.Unmarshal(is, &after))
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !equal(before[name], after[name]) {
			out = append(out, EditedMember{name, string(before[name]), string(after[name])})
		}
	}
	return out, err
}

// equal reports whether two values are the same, whatever the order of their members. Number literals are compared as
// they are written.
func equal(a, b jsontext.Value) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	a, b = a.Clone(), b.Clone()
	literal := []jsontext.Options{jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)}
	return a.Canonicalize(literal...) == nil && b.Canonicalize(literal...) == nil && bytes.Equal(a, b)
}

// errMask refuses a change of something that is hidden.
var errMask = &Unfit{"A hidden value can be left as it is, or replaced as a whole; " +
	"a list that holds one only as a whole."}

// unmask makes params of what a person wrote who saw the params only as they may be shown: what they left as it was
// shown is what it really is. A mask anywhere else would run as text, so it is refused.
func unmask(wrote, shown, actual jsontext.Value) (jsontext.Value, error) {
	if len(actual) > 0 && equal(wrote, shown) {
		return actual, nil
	}
	var members, were, are map[string]jsontext.Value
	err := errors.Join(json.Unmarshal(wrote, &members), json.Unmarshal(shown, &were), json.Unmarshal(actual, &are))
	if err != nil || members == nil { // no object, or none was there
		return wrote, unmasked(wrote)
	}
	for name, value := range members {
		if isMasked(name) {
			return nil, errMask
		}
		if members[name], err = unmask(value, were[name], are[name]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members, json.Deterministic(true))
}

// unmasked refuses a value with something in it that looks like a mask, or like what is left of one.
func unmasked(v jsontext.Value) error {
	all, err := protocol.Walk(v)
	masked := func(one protocol.Value) bool { return isMasked(one.Name) || isMasked(one.Text) }
	if err != nil || slices.ContainsFunc(all, masked) {
		return errMask
	}
	return nil
}

func isMasked(s string) bool {
	return redact.HasMask(s) || strings.Contains(strings.ToUpper(s), "REDACTED") || strings.Contains(s, " chars]")
}
