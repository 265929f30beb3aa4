package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/store/state"
)

// TimeKey is where the latest time that anyone has seen is kept, for those that come later: the clock that the records follow may be
// set back while no one looks.
var TimeKey = key(Bucket(0), "time")

// KeepTime keeps the latest time with the records. It is to be called each second.
func (s *core) KeepTime(ctx context.Context) error {
	_, err := s.change(ctx, "keep time", func(t *tx) error {
		if kept := t.read(TimeKey); keptTime(kept.Data).Before(t.now) {
			t.set(TimeKey, strconv.FormatInt(t.now.UnixMilli(), 10), nil, time.Time{})
		}
		return nil
	})
	return err
}

func keptTime(data string) time.Time {
	ms, err := strconv.ParseInt(data, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// endPatience is how long ending everything may take. Callers are denied meanwhile.
const endPatience = 30 * time.Second

// goOn begins where the store's time ended. If the clock is behind that, it is unknown how much time has passed, so all that a person
// gave for a while is over. The rest keeps the time it has left, and from here the clock counts again.
func (s *core) goOn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	found, now, err := s.records.Load(ctx, TimeKey)
	if err != nil {
		return err
	}
	latest := keptTime(found[0].Data)
	by := latest.Sub(now)
	if latest.IsZero() || by <= Slack {
		s.epochs.clock.Saw(latest)
		return nil
	}
	b := SetBack{By: by, Start: true}
	err = s.records.Each(ctx, func(k Key, r Record) error { return s.endGiven(ctx, k, r, &b, now) })
	if err != nil {
		return err
	}
	s.epochs.clock.Set(now)
	s.told(b)
	return nil
}

// endGiven does what is to be done about one record.
func (s *core) endGiven(ctx context.Context, k Key, r Record, b *SetBack, now time.Time) error {
	kind, _, _ := strings.Cut(k.Name(), ":")
	w := Write{Key: k, Record: r}
	switch kind {
	case "k":
		b.Questions++
		w.Record = Record{}
	case "b", "open", "granting", "questions":
		w.Record = Record{}
	case "time":
		w.Data = strconv.FormatInt(now.UnixMilli(), 10)
	case "s":
		var grants int
		var err error
		if w.Record, grants, err = endGrants(k, r, b.By); err != nil {
			return err
		}
		b.Grants += grants
	default:
		if r.Until.IsZero() {
			return nil
		}
		w.Until = r.Until.Add(-b.By)
	}
	if w.Record != (Record{}) {
		w.Version = newVersion()
	}
	return s.records.Commit(ctx, &Commit{Reads: []Read{{k, r.Version}}, Writes: []Write{w}, NotAfter: now.Add(2*b.By + 365*24*time.Hour)})
}

// endGrants ends what was given in a conversation.
func endGrants(k Key, r Record, by time.Duration) (Record, int, error) {
	t := &tx{known: map[Key]*known{k: {Record: r}}, reads: map[Key]bool{}, writes: map[Key]*known{}, fresh: true}
	r.Until = time.Time{} // it has not ended: it was just read
	t.known[k] = &known{Record: r}
	c := get[state.Conversation](t, k)
	if t.failed != nil || c == nil {
		return Record{}, 0, t.failed
	}
	ended := *c
	grants := ended.EndGiven(by)
	t.put(k, &ended, time.UnixMilli(ended.Touched).Add(keepConversation))
	return t.writes[k].Record, grants, t.failed
}
