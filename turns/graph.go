package turns

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

// ErrUnknown says that nothing is remembered under a name.
var ErrUnknown = errors.New("turns: no turn is remembered under this name")

// note puts into the store what is known of a turn, and lets it be found by the
// reference that the agent was given. It reports whether it was kept.
func (k *Keeper) note(ctx context.Context, n *turn, ref string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.o.Wait)
	defer cancel()
	facts, name := k.memory.take(n)
	if len(facts) == 0 {
		return true
	}
	notes := []session.Note{k.factNote(ctx, n, facts)}
	if ref != "" {
		notes = append(notes, k.nameNote("ref", ref, n.id))
	}
	if name {
		notes = append(notes, k.nameNote("ref", n.Ref(), n.id))
		if n.root != n.Conversation {
			notes = append(notes, k.nameNote("ref", n.root.Ref(), n.id))
		}
		if n.Run != "" {
			notes = append(notes, k.nameNote("run", n.Run, n.id))
		}
	}
	if err := k.o.Store.Note(ctx, notes...); err != nil {
		k.o.Log.WarnContext(ctx, "what was seen of a turn could not be kept", "turn", n.id, "err", err)
		k.memory.giveBack(n, facts)
		return false
	}
	return true
}

// factNote writes facts down, without the secrets that someone may have put into
// a name.
func (k *Keeper) factNote(ctx context.Context, n *turn, facts []provenance.Fact) session.Note {
	var texts [][]byte
	for i := range facts {
		k.o.Hide(&facts[i])
		text, err := json.Marshal(&facts[i])
		if err != nil {
			k.o.Log.WarnContext(ctx, "a fact of a turn could not be written", "turn", n.id, "err", err)
			continue
		}
		texts = append(texts, text)
	}
	return k.sealed(factList(n.id), provenance.MaxFacts, texts...)
}

func factList(turn string) string { return turn + ":turn" }

// nameNote lets a turn be found by another name; the latest has it. What a
// runtime calls a run can't take the place of a reference of ours.
func (k *Keeper) nameNote(kind, name, turn string) session.Note {
	return k.sealed(nameList(kind, name), 1, []byte(turn))
}

func nameList(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\n" + name))
	return hex.EncodeToString(sum[:16]) + ":" + kind
}

// sealed is a note under our seal, kept as long as graphs are.
func (k *Keeper) sealed(list string, most int, texts ...[]byte) session.Note {
	return session.SealNote(k.o.Key, list, most, provenance.Keep, texts...)
}

// Graph draws a turn by its id, the reference of a decision in it or of its
// conversation, or its run; of several the latest. The error is ErrUnknown where
// there is none.
func (k *Keeper) Graph(ctx context.Context, name string) (*provenance.Graph, error) {
	for _, form := range []string{name, strings.ToUpper(name), strings.ToLower(name)} {
		for _, n := range k.memory.called(form) {
			k.note(ctx, n, "")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, k.o.Wait)
	defer cancel()
	id, err := k.named(ctx, name)
	if err != nil {
		return nil, err
	}
	return k.graph(ctx, id)
}

// named finds a turn's id by any of its names.
func (k *Keeper) named(ctx context.Context, name string) (string, error) {
	if id := strings.ToLower(name); isTurn(id) {
		return id, nil
	}
	for _, list := range []string{nameList("ref", strings.ToUpper(name)), nameList("run", name)} {
		found, err := session.ReadNotes(ctx, k.o.Store, k.o.Key, list)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return string(found[len(found)-1]), nil
		}
	}
	return "", ErrUnknown
}

func isTurn(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == 8
}

func (k *Keeper) graph(ctx context.Context, id string) (*provenance.Graph, error) {
	if !isTurn(id) {
		return nil, ErrUnknown
	}
	entries, err := session.ReadNotes(ctx, k.o.Store, k.o.Key, factList(id))
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
		return nil, ErrUnknown
	}
	return provenance.Build(id, facts), nil
}
