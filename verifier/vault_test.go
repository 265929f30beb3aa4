package verifier_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// vault is a store into which somebody writes by hand.
type vault struct {
	backend
	get func(key, field string) string // a value as it stands
	put func(key, field, value string)
	hand
}

// hand says where things stand in a store.
type hand interface {
	grant(c session.Conversation, field string) (key, at string)
	card(id string) (key, at string)
	question(c session.Conversation, digest string) (key, at string)
	request(c session.Conversation, id string) (key, at string)
}

func onBoth(t *testing.T, test func(t *testing.T, v *vault)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		store, path := openSQLite(t)
		test(t, &vault{backend: store, hand: rows{}, get: rows{}.get(t, path), put: rows{}.put(t, path)})
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
		test(t, &vault{backend: store, hand: keys{}, get: keys{}.get(t, server), put: keys{}.put(t, server)})
	})
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
		key, at := v.card(id)
		if err := json.Unmarshal([]byte(v.get(key, at)), &c); err != nil {
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
	key, at := v.card(c.ID)
	v.put(key, at, string(text))
}

// rows is where things stand in SQLite: a table and its column, then a row.
type rows struct{}

func (rows) grant(c session.Conversation, field string) (string, string) {
	return "grants value", "conversation = '" + c.Hash() + "' AND field = '" + field + "'"
}

func (rows) card(id string) (string, string) { return "cards blob", "id = '" + id + "'" }

func (rows) question(c session.Conversation, digest string) (string, string) {
	return "waiting card", "conversation = '" + c.Hash() + "' AND digest = '" + digest + "'"
}

func (rows) request(c session.Conversation, id string) (string, string) {
	return "requests mark", "conversation = '" + c.Hash() + "' AND request = '" + id + "'"
}

func (rows) open(t *testing.T, path string, do func(db *sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// place is the table in which a row stands: a request is in the journal at first.
func (rows) place(t *testing.T, db *sql.DB, table, at string) (string, error) {
	t.Helper()
	if table != "requests" {
		return table, nil
	}
	var isBooked bool
	err := db.QueryRowContext(t.Context(), "SELECT NOT EXISTS (SELECT 1 FROM requests WHERE "+at+
		") AND EXISTS (SELECT 1 FROM journal WHERE unposted AND "+at+")").Scan(&isBooked)
	if isBooked {
		table = "journal"
	}
	return table, err
}

func (s rows) get(t *testing.T, path string) func(key, at string) string {
	return func(key, at string) (value string) {
		t.Helper()
		table, column, _ := strings.Cut(key, " ")
		s.open(t, path, func(db *sql.DB) error {
			table, err := s.place(t, db, table, at)
			if err != nil {
				return err
			}
			err = db.QueryRowContext(t.Context(), "SELECT "+column+" FROM "+table+" WHERE "+at).Scan(&value)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		})
		return value
	}
}

// put changes a row, or makes one.
func (s rows) put(t *testing.T, path string) func(key, at, value string) {
	return func(key, at, value string) {
		t.Helper()
		table, column, _ := strings.Cut(key, " ")
		s.open(t, path, func(db *sql.DB) error {
			var set any = value
			if column == "blob" {
				set = []byte(value)
			}
			table, err := s.place(t, db, table, at)
			if err != nil {
				return err
			}
			done, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET "+column+" = ? WHERE "+at, set)
			if err != nil {
				return err
			}
			if n, _ := done.RowsAffected(); n == 1 {
				return nil
			}
			q := strings.Split(at, "'")
			columns, last := map[string]string{"grants": "field, value, until_ms", "waiting": "digest, card, until_ms"}[table], "NULL"
			if table == "waiting" {
				last = "9999999999999"
			}
			_, err = db.ExecContext(t.Context(), "INSERT INTO "+table+" (conversation, "+columns+") VALUES (?, ?, ?, "+last+")", q[1], q[3], value)
			return err
		})
	}
}

// keys is where things stand in Redis: a key, then a field of a hash.
type keys struct{}

func prefix(hash string) string { return "v1:{" + hash[:2] + "}:" }

func (keys) grant(c session.Conversation, field string) (string, string) {
	return prefix(c.Hash()) + "g:" + c.Hash(), field
}

func (keys) card(id string) (string, string) { return prefix(id) + "k:" + id, "b" }

func (keys) question(c session.Conversation, digest string) (string, string) {
	return prefix(c.Hash()) + "q:" + c.Hash(), digest
}

func (keys) request(c session.Conversation, id string) (string, string) {
	return prefix(c.Hash()) + "r:" + c.Hash() + ":" + id, ""
}

// A request is its end, its body's hash and its mark in one string.
func split(t *testing.T, value string) (head, mark string) {
	t.Helper()
	colon := strings.IndexByte(value, ':')
	if colon < 0 || len(value) < colon+34 {
		t.Fatalf("%q is no request", value)
	}
	return value[:colon+33], value[colon+33:]
}

func (keys) get(t *testing.T, s *redistest.Server) func(key, at string) string {
	return func(key, at string) string {
		t.Helper()
		if at == "" {
			value, err := s.Admin.Get(t.Context(), key).Result()
			if err != nil {
				t.Fatal(err)
			}
			_, mark := split(t, value)
			return mark
		}
		value, err := s.Admin.HGet(t.Context(), key, at).Result()
		if err != nil && value != "" {
			t.Fatal(err)
		}
		return value
	}
}

func (keys) put(t *testing.T, s *redistest.Server) func(key, at, value string) {
	return func(key, at, value string) {
		t.Helper()
		var err error
		switch {
		case at == "":
			var old string
			if old, err = s.Admin.Get(t.Context(), key).Result(); err == nil {
				head, _ := split(t, old)
				err = s.Admin.Set(t.Context(), key, head+value, 0).Err()
			}
		case strings.Contains(key, ":q:"):
			err = s.Admin.HSet(t.Context(), key, at, "9999999999999:9999999999999:"+value).Err()
		default:
			err = s.Admin.HSet(t.Context(), key, at, value).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
