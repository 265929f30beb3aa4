package sqlite

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

// Place implements approval.Store.
func (s *Store) Place(ctx context.Context, d approval.Draft) (approval.Placement, error) {
	hash := d.Conversation.Hash()
	return ask(ctx, s.writer, func(t *tx) (approval.Placement, error) { return t.place(hash, &d) })
}

func (t *tx) place(hash string, d *approval.Draft) (approval.Placement, error) {
	if id, err := t.find(d.CodeSeal); err != nil || id != "" {
		return approval.Placement{}, or(err, approval.ErrCodeTaken)
	}
	if c, err := t.conversation(hash, ""); err != nil || c == nil {
		return approval.Placement{}, or(err, approval.ErrUnknown)
	}
	if p, err := t.shared(hash, d); err != nil || p.ID != "" {
		return p, err
	}
	if p, full, err := t.full(hash, d); err != nil || full {
		return p, err
	}
	until := t.now.Add(d.Live)
	_, err := t.exec(`INSERT INTO cards (id, conversation, code_seal, version, blob, batch, closed, until_ms, keep_ms)
		VALUES (?, ?, ?, 1, ?, ?, 0, ?, ?)`,
		d.ID, hash, d.CodeSeal, solid(d.Blob), truth(d.Batch), until.UnixMilli(), until.Add(approval.Retention).UnixMilli())
	if err != nil {
		return approval.Placement{}, err
	}
	for _, digest := range d.Digests {
		if err := t.wait(hash, digest, d.ID, until); err != nil {
			return approval.Placement{}, err
		}
	}
	return approval.Placement{State: approval.New, ID: d.ID, Until: at(until.UnixMilli())}, nil
}

// shared is the live card that asks about one of a draft's digests already,
// other than the one it comes instead of.
func (t *tx) shared(hash string, d *approval.Draft) (approval.Placement, error) {
	for _, digest := range d.Digests {
		w, err := t.waiting(hash, digest)
		if err != nil {
			return approval.Placement{}, err
		}
		if w != nil && w.text(0) != d.Instead {
			k, err := t.one(`SELECT until_ms FROM cards WHERE id = ?`, w.text(0))
			return approval.Placement{State: approval.Shared, ID: w.text(0), Until: at(k.int(0))}, err
		}
	}
	return approval.Placement{}, nil
}

// full says that a draft finds no room. The live batch card, which is not
// counted, is named.
func (t *tx) full(hash string, d *approval.Draft) (p approval.Placement, full bool, err error) {
	rows, err := t.all(`SELECT id, batch, until_ms FROM cards WHERE conversation = ? AND NOT closed AND until_ms > ?`, hash, t.ms())
	if err != nil {
		return p, false, err
	}
	open := 0
	p.State = approval.Full
	for _, r := range rows {
		if r.int(1) == 0 {
			open++
			continue
		}
		p.ID, p.Until = r.text(0), at(r.int(2))
	}
	return p, d.Batch && p.ID != "" || !d.Batch && open >= d.MaxOpen, nil
}

// wait notes that a card asks about a call, and until when it is found by it.
func (t *tx) wait(hash, digest, card string, until time.Time) error {
	_, err := t.exec(`INSERT INTO waiting (conversation, digest, card, until_ms) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET card = excluded.card, until_ms = excluded.until_ms`, hash, digest, card, until.UnixMilli())
	return err
}

func (t *tx) waiting(hash, digest string) (row, error) {
	return t.one(`SELECT card FROM waiting WHERE conversation = ? AND digest = ? AND until_ms > ?`, hash, digest, t.ms())
}

// Load implements approval.Store.
func (s *Store) Load(ctx context.Context, ids ...string) (cards []approval.Stored, now time.Time, err error) {
	return s.load(ctx, ids, `SELECT version, until_ms, blob FROM cards WHERE id = ? AND keep_ms > ?`)
}

// Versions implements approval.Store.
func (s *Store) Versions(ctx context.Context, ids ...string) (cards []approval.Stored, now time.Time, err error) {
	return s.load(ctx, ids, `SELECT version, until_ms, NULL FROM cards WHERE id = ? AND keep_ms > ?`)
}

func (s *Store) load(ctx context.Context, ids []string, query string) (cards []approval.Stored, now time.Time, err error) {
	type answer struct {
		cards []approval.Stored
		now   time.Time
	}
	a, err := ask(ctx, s.reader, func(t *tx) (a answer, err error) {
		a.now = t.now
		a.cards, err = t.load(ids, query)
		return a, err
	})
	return a.cards, a.now, err
}

func (t *tx) load(ids []string, query string) (cards []approval.Stored, err error) {
	for _, id := range ids {
		r, err := t.one(query, id, t.ms())
		if err != nil {
			return nil, err
		}
		if r != nil {
			cards = append(cards, approval.Stored{ID: id, Version: r.int(0), Until: at(r.int(1)), Blob: r.bytes(2)})
		}
	}
	return cards, nil
}

// claim uses up a yes in the same step as the allow. No claim needs none.
func (t *tx) claim(cl *session.Claim) (bool, error) {
	if cl == nil {
		return true, nil
	}
	n, err := t.exec(`UPDATE cards SET version = version + 1, blob = ? WHERE id = ? AND version = ? AND keep_ms > ?`,
		solid(cl.Blob), cl.Card, cl.Version, t.ms())
	return n == 1, err
}

// Find implements approval.Store.
func (s *Store) Find(ctx context.Context, codeSeal string) (string, error) {
	return ask(ctx, s.reader, func(t *tx) (string, error) { return t.find(codeSeal) })
}

func (t *tx) find(codeSeal string) (string, error) {
	r, err := t.one(`SELECT id FROM cards WHERE code_seal = ? AND keep_ms > ?`, codeSeal, t.ms())
	return r.text(0), err
}

// Open implements approval.Store.
func (s *Store) Open(ctx context.Context) ([]string, error) {
	return ask(ctx, s.reader, func(t *tx) (ids []string, err error) {
		rows, err := t.all(`SELECT id FROM cards WHERE NOT closed AND until_ms > ? ORDER BY number`, t.ms())
		for _, r := range rows {
			ids = append(ids, r.text(0))
		}
		return ids, err
	})
}

// or is the error that happened, or else the one that was meant.
func or(err, meant error) error {
	if err != nil {
		return err
	}
	return meant
}

// solid makes an empty blob of no blob: the column is never NULL.
func solid(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
