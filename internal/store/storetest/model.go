package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// remembered is what the model knows of a conversation: what the rules say in the plainest way.
type remembered struct {
	levels  map[string]taint.Level
	secrets map[string]bool
	grants  []string
	open    []string
}

// model makes random changes in three processes that share the store, each of which may be restarted, and compares each
// answer with what the rules say.
func model(b *bench) {
	seed := uint64(time.Now().UnixNano())
	b.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	stores := []*store.Store{b.store(), b.store(), b.store()}
	names, sessions := []string{"a", "b", "c"}, []string{"", "s1", "s2"}
	convs, requests, paused := map[string]*remembered{}, map[string]string{}, map[string]bool{}
	for _, n := range names {
		convs[n] = &remembered{levels: map[string]taint.Level{}, secrets: map[string]bool{}}
	}
	roots := map[string]string{"a": "a", "b": "b", "c": "c"}
	for step := range 600 {
		at := random.IntN(len(stores))
		if random.IntN(40) == 0 {
			stores[at] = b.store()
		}
		s, name, session := stores[at], names[random.IntN(3)], sessions[random.IntN(3)]
		m, level := convs[roots[name]], taint.Level(random.IntN(taint.Levels))
		id := fmt.Sprint("id", random.IntN(60))
		said := fmt.Sprint(step, ": ", name, " ", session, " ", id, " ")
		switch op := random.IntN(10); op {
		case 0, 1:
			b.raise(s, conv(name), session, level)
			m.levels[session] = max(m.levels[session], level)
		case 2:
			b.update(s, conv(name), func(t *store.Tx) { t.C.Expose(session, "key") })
			m.secrets[session] = true
		case 3:
			if random.IntN(4) == 0 {
				b.update(s, conv(name), func(t *store.Tx) { t.C.Forget(t.Now) })
				m.secrets, m.grants = map[string]bool{}, nil
				for s := range m.levels {
					m.levels[s] = taint.System
				}
			}
		case 4:
			var answer string
			b.update(s, conv(name), func(t *store.Tx) {
				if r := t.Request(id); r != nil {
					answer = r.By
					return
				}
				answer = name
				t.Decide(store.Request{ID: id, By: name, Keep: time.Hour})
			})
			if requests[id] == "" {
				requests[id] = name
			}
			b.is(said+"request", answer, requests[id])
		case 5:
			on := random.IntN(2) == 0
			b.must(s.Pause(b.ctx, store.Pause{Agent: name, On: on}))
			paused[name] = on
		case 6:
			if !slices.Contains(m.grants, id) && len(m.grants) < 20 {
				b.update(s, conv(name), func(t *store.Tx) {
					t.C.Grant(store.Grant{ID: id,
						Until: t.Now.Add(time.Hour)})
				})
				m.grants = append(m.grants, id)
			}
		case 7:
			b.update(s, conv(name), func(t *store.Tx) { t.C.EndGrants(func(g *store.Grant) bool { return g.ID < id }) })
			m.grants = slices.DeleteFunc(m.grants, func(g string) bool { return g < id })
		case 8:
			card := fmt.Sprint(roots[name], step)
			b.card(s, conv(name), card, time.Hour)
			m.open = append(m.open, card)
			if len(m.open) > 4 {
				b.closeCard(s, conv(name), m.open[0])
				m.open = m.open[1:]
			}
		case 9:
			if step == 300 || step > 300 && roots["c"] == "c" {
				b.must(s.Update(b.ctx, conv("c"), func(t *store.Tx) error { t.Join(conv("a"), "s1"); return nil }))
				join(convs["a"], convs["c"])
				roots["c"] = "a"
			}
		}
		b.compare(stores[random.IntN(len(stores))], said, name, convs[roots[name]], paused)
		if b.Failed() {
			return
		}
	}
}

func join(root, child *remembered) {
	root.levels["s1"] = max(root.levels["s1"], slices.Max(append(slices.Collect(maps.Values(child.levels)), 0)))
	if len(child.secrets) > 0 {
		root.secrets["s1"] = true
	}
	root.open = append(root.open, child.open...)
}

func (b *bench) closeCard(s *store.Store, c store.Name, id string) {
	b.Helper()
	b.must(s.Update(b.ctx, c, func(t *store.Tx) error {
		card, err := t.Card(id)
		if err == nil {
			card.Closed = true
			err = t.PutCard(card)
		}
		return err
	}))
}

func (b *bench) compare(s *store.Store, said, name string, m *remembered, paused map[string]bool) {
	b.Helper()
	b.update(s, conv(name), func(t *store.Tx) {
		worst := taint.System
		for _, level := range m.levels {
			worst = max(worst, level)
		}
		b.is(said+"worst", t.C.Level(""), worst)
		b.is(said+"s1", t.C.Level("s1"), max(m.levels[""], m.levels["s1"]))
		b.is(said+"secrets", t.C.Secret("s2") != "", m.secrets[""] || m.secrets["s2"])
		b.is(said+"paused", t.Paused(name) != nil, paused[name])
		var grants, open []string
		for _, g := range t.C.Grants {
			grants = append(grants, g.ID)
		}
		for _, o := range t.C.Open {
			if !o.Closed {
				open = append(open, o.ID)
			}
		}
		b.is(said+"grants", strings.Join(grants, " "), strings.Join(m.grants, " "))
		b.is(said+"open", strings.Join(open, " "), strings.Join(m.open, " "))
	})
}
