package sqlite

import (
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// request is a request that was admitted before and is still remembered.
type request struct {
	body []byte
	mark string
}

func (t *tx) request(hash, id string) (*request, error) {
	r, err := t.one(`SELECT body, mark FROM requests WHERE conversation = ? AND request = ? AND until_ms > ?`, hash, id, t.ms())
	if line, is := t.journal[booked{hash, id}]; is && r == nil && err == nil {
		r, err = t.one(`SELECT body, mark FROM journal WHERE line = ? AND until_ms > ?`, line, t.ms())
	}
	if err != nil || r == nil {
		return nil, err
	}
	return &request{body: r.bytes(0), mark: r.text(1)}, nil
}

// decide writes a request's decision.
func (t *tx) decide(hash, id string, body [32]byte, mark string, keep time.Duration) error {
	_, err := t.exec(`INSERT INTO requests (conversation, request, body, mark, until_ms) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET body = excluded.body, mark = excluded.mark, until_ms = excluded.until_ms`,
		hash, id, body[:], mark, t.now.Add(keep).UnixMilli())
	return err
}

// count counts a call of a run, and says how many there are with it.
func (t *tx) count(hash string, a *session.Admission) (calls int64, err error) {
	if !counted(a) {
		return 0, nil
	}
	r, err := t.one(`INSERT INTO runs (conversation, run, calls, touched_ms) VALUES (?, ?, 1, ?)
		ON CONFLICT DO UPDATE SET calls = calls + 1, touched_ms = excluded.touched_ms RETURNING calls`, hash, a.Run, t.ms())
	return r.int(0), err
}

// uncount takes that back, and says how many there are without it.
func (t *tx) uncount(hash string, a *session.Admission) (calls int64, err error) {
	if !counted(a) {
		return 0, nil
	}
	r, err := t.one(`UPDATE runs SET calls = calls - 1 WHERE conversation = ? AND run = ? RETURNING calls`, hash, a.Run)
	return r.int(0), err
}

func counted(a *session.Admission) bool { return a.RunCap > 0 && a.Run != "" }
