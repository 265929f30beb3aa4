package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/taint"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAStartThatIsCutOffEndsWhatWasGivenTheNextTime: the clock is behind, and the database fails after any number of changes.
func TestAStartThatIsCutOffEndsWhatWasGivenTheNextTime(t *testing.T) {
	for after := range 6 {
		path := filepath.Join(t.TempDir(), "state.db")
		now := time.UnixMilli(1_700_000_000_000)
		o := Options{Now: func() time.Time { return now }, Elapsed: func() time.Duration { return 0 }, Timeout: time.Minute}
		s, err := Open(path, o)
		check(t, err)
		grantFor(t, s, now)
		now = now.Add(2 * time.Second)
		check(t, s.KeepTime(t.Context()))
		now = now.Add(-time.Hour)
		cut := store.New(&failing{Records: s.records, left: after}, store.Options{Timeout: time.Minute, Clock: store.NewClock(o.Elapsed, nil), SetBack: func(store.SetBack) {}})
		_ = cut.Meet() // it fails, or is done
		check(t, s.Close())
		s, err = Open(path, o)
		check(t, err)
		if grants, _, err := s.Grants(t.Context(), "", 10); err != nil || len(grants) > 0 {
			t.Errorf("cut off after %d changes, a grant of a minute outlived the clock: %v, %v", after, grants, err)
		}
		check(t, s.Close())
	}
}

// failing are records that fail after so many changes.
type failing struct {
	store.Records
	left int
}

func (f *failing) Commit(ctx context.Context, commits ...*store.Commit) error {
	if f.left--; f.left < 0 {
		return errors.New("the disk is gone")
	}
	return f.Records.Commit(ctx, commits...)
}

// grantFor gives a grant for a minute.
func grantFor(t *testing.T, s *Store, now time.Time) {
	t.Helper()
	name := session.Conversation{Client: "laptop", Key: "agent:main:a"}
	_, err := s.Admit(t.Context(), session.Admission{Conversation: name, Session: "s1", RequestID: "r", Modes: taint.Every(taint.Allow), Final: true, Decision: "A", Keep: time.Hour})
	check(t, err)
	id := name.Hash()[:2] + "01"
	_, err = s.Place(t.Context(), approval.Draft{ID: id, Conversation: name, Digests: []string{"d"}, CodeSeal: "seal", Live: time.Minute, MaxOpen: 5})
	check(t, err)
	check(t, s.Swap(t.Context(), approval.Change{
		ID: id, Version: 1, Conversation: name, Blob: []byte("yes"), Closed: true, Grants: map[string]string{"field": fmt.Sprintf("%d|value", now.Add(time.Minute).Unix())},
	}))
}

// TestConversationsThatNameEachOtherAsParentMakeNoCircle, also at the same moment.
func TestConversationsThatNameEachOtherAsParentMakeNoCircle(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "state.db"), Options{Timeout: time.Minute})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	for i := range 20 {
		a, b := session.Conversation{Client: "c", Key: fmt.Sprint("a", i)}, session.Conversation{Client: "c", Key: fmt.Sprint("b", i)}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = s.Link(context.Background(), a, b) // it may be refused
		}()
		_, _, _ = s.Link(t.Context(), b, a)
		<-done
		if _, err := s.Worst(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManySessionIDsAreFoldedIntoOne: a conversation that never ends does not grow without end, and nothing becomes better by that.
func TestManySessionIDsAreFoldedIntoOne(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "state.db"), Options{Timeout: time.Minute})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	name := session.Conversation{Client: "laptop", Key: "agent:main:a"}
	admit := func(sessionID string, raise taint.Level) session.View {
		v, err := s.Admit(t.Context(), session.Admission{
			Conversation: name, Session: sessionID, RequestID: sessionID + raise.String(), Initial: taint.Owner, Modes: taint.Every(taint.Allow), Final: true,
			Raise: raise, Source: "web_fetch", Decision: "A", Keep: time.Hour,
		})
		check(t, err)
		return v
	}
	admit("bad", taint.Untrusted)
	for i := range 2100 {
		admit(fmt.Sprint("s", i), taint.System)
	}
	if v := admit("bad", taint.System); v.Level != taint.Untrusted {
		t.Errorf("the one that was tainted is at %v", v.Level)
	}
	if v := admit("new", taint.System); v.Level != taint.Owner {
		t.Errorf("a new one is at %v", v.Level)
	}
	r, _, err := s.records.Load(t.Context(), store.Key(name.Hash()[:2]+":s:"+name.Hash()))
	if n := strings.Count(r[0].Data, `":"owner"`); err != nil || n > 2048 {
		t.Errorf("it tells %d session ids apart, %v", n, err)
	}
}

// TestManyKeysLoadAsEachAlone: enough of them to be read by one statement, some of them absent, over, counters, named twice or members of a set.
func TestManyKeysLoadAsEachAlone(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	s, err := Open(filepath.Join(t.TempDir(), "state.db"), Options{Now: func() time.Time { return now }, Elapsed: func() time.Duration { return 0 }, Timeout: time.Minute})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	var keys []store.Key
	for n := range 3*loadTogether + 7 {
		k := store.Key(fmt.Sprintf("07:it's \"%d\" \xff", n))
		c := &store.Commit{NotAfter: now.Add(time.Hour)}
		until := time.Time{}
		switch n % 5 {
		case 0:
			until = now.Add(time.Millisecond) // over when they are loaded
		case 1:
			until = now.Add(time.Minute)
		case 2:
			k = store.Key(fmt.Sprintf("07:n:%d", n))
			c.Counts = []store.Count{{Key: k, By: int64(n), Keep: time.Minute}}
		case 3:
			k = "07:absent"
		}
		if n%5 < 2 || n%5 == 4 {
			c.Writes = []store.Write{{Key: k, Record: store.Record{Version: store.Version{1, byte(n)}, Data: fmt.Sprint("data ", n), Until: until}}}
		}
		check(t, s.records.Commit(t.Context(), c))
		keys = append(keys, k)
	}
	check(t, s.records.Commit(t.Context(), &store.Commit{NotAfter: now.Add(time.Hour), Joins: []store.Join{{Set: "07:known", Member: "m"}}}))
	keys[2*loadTogether+3] = "07:known m"
	now = now.Add(time.Second)
	together, _, err := s.records.Load(t.Context(), keys...)
	check(t, err)
	held := 0
	for i, k := range keys {
		alone, _, err := s.records.Load(t.Context(), k)
		check(t, err)
		if together[i] != alone[0] {
			t.Errorf("%q is %+v among others, and %+v alone", k, together[i], alone[0])
		}
		if alone[0] != (store.Record{}) {
			held++
		}
	}
	if len(together) != len(keys) || held < len(keys)/2 || held > len(keys)*2/3 {
		t.Errorf("%d of %d keys are loaded, %d of them hold something", len(together), len(keys), held)
	}
}
