package verifier_test

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/store/state"
)

// vault is a store into which somebody writes by hand.
type vault struct {
	backend
	t     *testing.T
	read  func(key string) string // a record as it stands
	write func(key, data string)
}

func onBoth(t *testing.T, test func(t *testing.T, v *vault)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		store, path := openSQLite(t)
		test(t, &vault{backend: store, t: t, read: rowReader(t, path), write: rowWriter(t, path)})
	})
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		store, err := redis.Open(server.URL(), redis.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, &vault{backend: store, t: t, read: keyReader(t, server), write: keyWriter(t, server)})
	})
}

// place says where something is: in which record, and which part of it.
type place struct{ key, kind, field string }

func (v *vault) grant(c session.Conversation, field string) place {
	return place{c.Hash()[:2] + ":s:" + c.Hash(), "grant", field}
}

func (v *vault) question(c session.Conversation, digest string) place {
	return place{c.Hash()[:2] + ":s:" + c.Hash(), "question", digest}
}

func (v *vault) card(id string) place { return place{id[:2] + ":b:" + id, "card", ""} }

func (v *vault) request(c session.Conversation, id string) place {
	return place{c.Hash()[:2] + ":r:" + c.Hash() + ":" + id, "request", ""}
}

func (v *vault) conversation(key string) (c state.Conversation) {
	v.t.Helper()
	if err := json.Unmarshal([]byte(v.read(key)), &c); err != nil {
		v.t.Fatal(err)
	}
	return c
}

// get is a value as it is.
func (v *vault) get(p place) string {
	v.t.Helper()
	switch p.kind {
	case "grant":
		return v.conversation(p.key).Grants[p.field]
	case "card":
		return strings.TrimSuffix(v.read(p.key), "\n")
	default:
		return v.read(p.key)[32:]
	}
}

// put changes it, or makes one.
func (v *vault) put(p place, value string) {
	v.t.Helper()
	switch p.kind {
	case "card":
		v.write(p.key, value+"\n")
		return
	case "request":
		v.write(p.key, v.read(p.key)[:32]+value)
		return
	}
	c := v.conversation(p.key)
	if p.kind == "grant" {
		if c.Grants == nil {
			c.Grants = map[string]string{}
		}
		c.Grants[p.field] = value
	} else {
		if c.Waiting == nil {
			c.Waiting = map[string]state.Waiting{}
		}
		c.Waiting[p.field] = state.Waiting{Card: value, Until: time.Now().Add(time.Hour).UnixMilli()}
	}
	text, err := json.Marshal(c)
	if err != nil {
		v.t.Fatal(err)
	}
	v.write(p.key, string(text))
}

// blob reads the one open card, or the card behind a reference.
func (v *vault) blob(t *testing.T, ref string) (id string, c approval.Card) {
	t.Helper()
	ids, err := v.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if (&approval.Card{ID: id}).Ref() != ref {
			continue
		}
		if err := json.Unmarshal([]byte(v.get(v.card(id))), &c); err != nil {
			t.Fatal(err)
		}
		return id, c
	}
	t.Fatalf("no card %s among %v", ref, ids)
	return "", c
}

func (v *vault) putCard(t *testing.T, c *approval.Card) {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	v.put(v.card(c.ID), string(text))
}

// withDatabase opens a database that a store has open.
func withDatabase(t *testing.T, path string, do func(db *sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func rowReader(t *testing.T, path string) func(key string) string {
	return func(key string) (data string) {
		t.Helper()
		withDatabase(t, path, func(db *sql.DB) error {
			return db.QueryRowContext(t.Context(), `SELECT data FROM records WHERE key = ?`, key).Scan(&data)
		})
		return data
	}
}

func rowWriter(t *testing.T, path string) func(key, data string) {
	return func(key, data string) {
		t.Helper()
		withDatabase(t, path, func(db *sql.DB) error {
			done, err := db.ExecContext(t.Context(), `UPDATE records SET version = randomblob(8), data = ? WHERE key = ?`, []byte(data), key)
			if err != nil {
				return err
			}
			if n, _ := done.RowsAffected(); n != 1 {
				t.Fatalf("there is no record %s", key)
			}
			return nil
		})
	}
}

// redisKey is where a record is in Redis: its version and its end come before the data.
func redisKey(key string) string { return "v3:{" + key[:2] + "}:" + key[3:] }

func keyReader(t *testing.T, s *redistest.Server) func(key string) string {
	return func(key string) string {
		t.Helper()
		value, err := s.Admin.Get(t.Context(), redisKey(key)).Result()
		if err != nil {
			t.Fatal(err)
		}
		_, data, _ := strings.Cut(value[8:], ":")
		return data
	}
}

func keyWriter(t *testing.T, s *redistest.Server) func(key, data string) {
	return func(key, data string) {
		t.Helper()
		value, err := s.Admin.Get(t.Context(), redisKey(key)).Result()
		if err != nil {
			t.Fatal(err)
		}
		end, _, _ := strings.Cut(value[8:], ":")
		if err := s.Admin.Set(t.Context(), redisKey(key), rand.Text()[:8]+end+":"+data, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
