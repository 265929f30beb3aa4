package verifier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/session"
)

// ErrNoGraph says that nothing is remembered under a name.
var ErrNoGraph = errors.New("verifier: no turn is remembered under this name")

// note puts into the store what is known of a turn, and lets it be found by the
// reference that the agent was given. It is evidence: where it can't be kept, the
// decision stands and the log says so. It reports whether it was kept.
func (v *Verifier) note(ctx context.Context, n *turn, ref string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.o.StoreWait)
	defer cancel()
	facts, name := v.turns.take(n)
	if len(facts) == 0 {
		return true
	}
	notes := []session.Note{v.factNote(ctx, n, facts)}
	if ref != "" {
		notes = append(notes, v.nameNote("ref", ref, n.id))
	}
	if name {
		notes = append(notes, v.nameNote("ref", n.Ref(), n.id))
		if n.root != n.Conversation {
			notes = append(notes, v.nameNote("ref", n.root.Ref(), n.id))
		}
		if n.run != "" {
			notes = append(notes, v.nameNote("run", n.run, n.id))
		}
	}
	if err := v.o.Store.Note(ctx, notes...); err != nil {
		v.o.Log.WarnContext(ctx, "what was seen of a turn could not be kept", "turn", n.id, "err", err)
		v.turns.giveBack(n, facts)
		return false
	}
	return true
}

// keepAtOnce is how many turns are noted at a time.
const keepAtOnce = 256

// KeepTurns puts into the store what is known here of turns that nobody was asked
// about: a call that its level allows does not wait for that. It is for whoever
// runs a Verifier to call now and then, and at the end.
func (v *Verifier) KeepTurns(ctx context.Context) {
	for _, n := range v.turns.waiting(keepAtOnce) {
		if ctx.Err() != nil || !v.note(ctx, n, "") {
			return // the next time
		}
	}
}

// factNote writes facts down, without the secrets that someone may have put into
// a name.
func (v *Verifier) factNote(ctx context.Context, n *turn, facts []provenance.Fact) session.Note {
	var texts [][]byte
	for i := range facts {
		f := &facts[i]
		if f.Sent != "" {
			f.Tool = v.toolName(f.Tool, f.Sent)
		}
		v.redactor().Lines(&f.Tool, &f.ID, &f.Session, &f.Agent, &f.Run, &f.Label, &f.Model)
		text, err := json.Marshal(f)
		if err != nil {
			v.o.Log.WarnContext(ctx, "a fact of a turn could not be written", "turn", n.id, "err", err)
			continue
		}
		texts = append(texts, text)
	}
	return v.seals(factList(n.id), provenance.MaxFacts, v.keepTurns(), texts...)
}

func factList(turn string) string { return turn + ":turn" }

// nameNote lets a turn be found by another name; the latest has it. What a
// runtime calls a run can't take the place of a reference of ours.
func (v *Verifier) nameNote(kind, name, turn string) session.Note {
	return v.seals(nameList(kind, name), 1, v.keepTurns(), []byte(turn))
}

func nameList(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\n" + name))
	return hex.EncodeToString(sum[:16]) + ":" + kind
}

// Graph draws a turn by its id, the reference of a decision in it or of its
// conversation, or its run; of several the latest.
func (v *Verifier) Graph(ctx context.Context, name string) (*provenance.Graph, error) {
	for _, form := range []string{name, strings.ToUpper(name), strings.ToLower(name)} {
		for _, n := range v.turns.named(form) {
			v.note(ctx, n, "")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, v.o.StoreWait)
	defer cancel()
	id, err := v.turnNamed(ctx, name)
	if err != nil {
		return nil, err
	}
	return v.graph(ctx, id)
}

// turnNamed finds a turn by any of its names.
func (v *Verifier) turnNamed(ctx context.Context, name string) (string, error) {
	if id := strings.ToLower(name); isTurn(id) {
		return id, nil
	}
	for _, list := range []string{nameList("ref", strings.ToUpper(name)), nameList("run", name)} {
		found, err := v.notes(ctx, list)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return string(found[len(found)-1]), nil
		}
	}
	return "", ErrNoGraph
}

func isTurn(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 8
}

func (v *Verifier) graph(ctx context.Context, id string) (*provenance.Graph, error) {
	if !isTurn(id) {
		return nil, ErrNoGraph
	}
	entries, err := v.notes(ctx, factList(id))
	if err != nil {
		return nil, err
	}
	var facts []provenance.Fact
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[string(e)] {
			continue // a note that seemed to fail was kept, and made again
		}
		seen[string(e)] = true
		var f provenance.Fact
		if json.Unmarshal(e, &f) == nil { // one of another version is left out
			facts = append(facts, f)
		}
	}
	if len(facts) == 0 {
		return nil, ErrNoGraph
	}
	return provenance.Build(id, facts), nil
}
