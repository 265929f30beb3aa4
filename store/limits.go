package store

import (
	"context"
	"maps"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/state"
)

// Count implements approval.Store.
func (s *limits) Count(ctx context.Context, person string, window time.Duration, count bool) (tries int, err error) {
	at := scattered("tries:" + person)
	_, err = s.change(ctx, "miss", func(t *tx) error {
		tries = 0
		until := t.now.Add(max(window, time.Millisecond))
		if had := get[int](t, at); had != nil {
			tries, until = *had, t.read(at).Until
		}
		if count {
			tries++
			t.put(at, new(tries), until)
		}
		return nil
	})
	return tries, err
}

var questionsKey = key(Bucket(0), "questions")

// keepQuestions is longer than any window over which they are counted.
const keepQuestions = 24 * time.Hour

// questions changes what is known of agents' questions.
func (s *limits) questions(ctx context.Context, what string, run func(q state.Questions, now time.Time) state.Questions) error {
	_, err := s.changeHot(ctx, what, questionsKey, func(t *tx) error {
		var q state.Questions
		if had := get[state.Questions](t, questionsKey); had != nil {
			q = *had
		}
		if q = run(q, t.now); len(q) == 0 {
			t.remove(questionsKey)
		} else {
			t.put(questionsKey, &q, t.now.Add(keepQuestions))
		}
		return nil
	})
	return err
}

// Spend implements approval.Store.
func (s *limits) Spend(ctx context.Context, agent string, most int, window time.Duration) (out approval.Spending, err error) {
	err = s.questions(ctx, "spend", func(q state.Questions, now time.Time) state.Questions {
		q, out = q.Spend(agent, most, window, now)
		return q
	})
	if err != nil {
		return approval.Spending{}, err
	}
	return out, nil
}

// Refund implements approval.Store.
func (s *limits) Refund(ctx context.Context, agent string) error {
	return s.questions(ctx, "refund", func(q state.Questions, _ time.Time) state.Questions { return q.Refund(agent) })
}

// Forgive implements approval.Store.
func (s *limits) Forgive(ctx context.Context, agents ...string) error {
	return s.questions(ctx, "forgive", func(q state.Questions, _ time.Time) state.Questions { return q.Forgive(agents...) })
}

// Pause implements approval.Store. Every bucket has its own copy, so that an admit finds it there. Where not all could be written
// the caller gets an error and says it again.
func (s *limits) Pause(ctx context.Context, scope, word string) error {
	return s.writePause(ctx, scope, word, func(string) bool { return true })
}

// RestorePause implements approval.Store.
func (s *limits) RestorePause(ctx context.Context, scope, found, word string) error {
	return s.writePause(ctx, scope, word, func(held string) bool { return held == found })
}

// writePause puts a word into the buckets whose present one is to be replaced.
func (s *limits) writePause(ctx context.Context, scope, word string, replace func(held string) bool) error {
	ctx, cancel, err := s.begin(ctx, "pause")
	if err != nil {
		return err
	}
	defer cancel()
	jobs := make([]*job, Buckets)
	for n := range jobs {
		jobs[n] = &job{fresh: true, run: func(t *tx) error {
			p := place{bucket: Bucket(n)}
			words := map[string]string{}
			maps.Copy(words, t.pausing(p))
			if !replace(words[scope]) {
				return nil
			}
			words[scope] = word
			t.put(p.pauses(), &words, time.Time{})
			if n == Buckets-1 {
				t.commit.Announce = approval.PauseWake
			}
			return nil
		}}
	}
	return wrap("pause", s.doAll(ctx, jobs...))
}

// Pauses implements approval.Store. Buckets may differ, if someone wrote into one of them: what the first holds is given, and each
// admit sees its own.
func (s *limits) Pauses(ctx context.Context) (words map[string]string, err error) {
	err = s.ask(ctx, "pauses", func(t *tx) error {
		words = map[string]string{}
		if kept := get[map[string]string](t, place{bucket: Bucket(0)}.pauses()); kept != nil {
			words = maps.Clone(*kept)
		}
		return nil
	})
	return words, err
}

// Hold takes a lease or renews it, for ttl from now by the store's clock. It reports false while another owner has it.
func (s *limits) Hold(ctx context.Context, name, owner string, ttl time.Duration) (held bool, err error) {
	at := scattered("lease:" + name)
	_, err = s.change(ctx, "hold", func(t *tx) error {
		l := get[state.Lease](t, at)
		if held = l == nil || l.Owner == owner || !t.isBefore(l.Until); held {
			until := t.now.Add(max(ttl, time.Millisecond))
			t.put(at, &state.Lease{Owner: owner, Until: until.UnixMilli()}, until)
		}
		return nil
	})
	return held && err == nil, err
}

// Release gives a lease up, if it is the owner's.
func (s *limits) Release(ctx context.Context, name, owner string) error {
	at := scattered("lease:" + name)
	_, err := s.change(ctx, "release", func(t *tx) error {
		if l := get[state.Lease](t, at); l != nil && l.Owner == owner {
			t.remove(at)
		}
		return nil
	})
	return err
}

// HeadKey is where the head of a record is kept.
func HeadKey(name string) Key { return scattered("head:" + name) }

// ReadHead reads such a record.
func ReadHead(r Record) (head string, err error) {
	if r.Data != "" {
		err = json.Unmarshal([]byte(r.Data), &head)
	}
	return head, err
}

// KeepHead remembers how far a record has got.
func (s *limits) KeepHead(ctx context.Context, name, head string) error {
	_, err := s.change(ctx, "keep head", func(t *tx) error {
		t.put(HeadKey(name), &head, time.Time{})
		return nil
	})
	return err
}

// Head is how far a record had got, "" if that was never said.
func (s *limits) Head(ctx context.Context, name string) (head string, err error) {
	err = s.ask(ctx, "head", func(t *tx) error {
		if h := get[string](t, HeadKey(name)); h != nil {
			head = *h
		}
		return nil
	})
	return head, err
}

// noteKey finds a list by its name alone: it begins with its bucket.
func noteKey(list string) (Key, error) {
	p, ok := cardPlace(list)
	if !ok {
		return "", errList
	}
	return key(p.bucket, "j:"+list), nil
}

// Note implements verifier.Store.
func (s *limits) Note(ctx context.Context, notes ...session.Note) error {
	ctx, cancel, err := s.begin(ctx, "note")
	if err != nil {
		return err
	}
	defer cancel()
	var lists []List
	for _, n := range notes {
		k, err := noteKey(n.List)
		if err != nil {
			return wrap("note", err)
		}
		if len(n.Entries) > 0 {
			lists = append(lists, List{Key: k, Entries: n.Entries, Most: n.Most, Keep: n.Keep})
		}
	}
	if len(lists) == 0 {
		return nil
	}
	return wrap("note", s.records.Append(ctx, lists...))
}

// Notes implements verifier.Store.
func (s *limits) Notes(ctx context.Context, list string) ([][]byte, error) {
	ctx, cancel, err := s.begin(ctx, "notes")
	if err != nil {
		return nil, err
	}
	defer cancel()
	k, err := noteKey(list)
	if err != nil {
		return nil, wrap("notes", err)
	}
	entries, err := s.records.Entries(ctx, k)
	return entries, wrap("notes", err)
}

// Wakes implements approval.Store.
func (s *limits) Wakes(ctx context.Context, woke func(id string)) error {
	return s.records.Listen(ctx, woke)
}
