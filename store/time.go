package store

import (
	"context"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/store/state"
)

// TimeKey is where the latest time that anyone has seen is kept, for those that come later: the clock that the records follow may be
// set back while no one looks.
var TimeKey = key(Bucket(0), "time")

// KeepTime keeps the latest time with the records. It is to be called each second.
func (s *core) KeepTime(ctx context.Context) error {
	var latest time.Time
	_, err := s.change(ctx, "keep time", func(t *tx) error {
		if latest = keptTime(t.read(TimeKey).Data); latest.Before(t.now) {
			t.set(TimeKey, strconv.FormatInt(t.now.UnixMilli(), 10), nil, time.Time{})
		}
		return nil
	})
	if err == nil { // another process may know a later one
		s.epochs.clock.Saw(latest)
	}
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
	err = s.records.Each(ctx, func(k Key, r Record) error { return s.endGiven(ctx, k, r, &b, latest) })
	if err != nil {
		return err
	}
	kept := &Commit{Writes: []Write{{TimeKey, Record{Version: newVersion(), Data: strconv.FormatInt(now.UnixMilli(), 10)}}}, NotAfter: latest.Add(endPatience)}
	if err := s.records.Commit(ctx, kept); err != nil { // last: a start that is cut off before it is done again
		return err
	}
	s.epochs.clock.Set(now)
	s.told(b)
	return nil
}

// endGiven does what is to be done about one record, also if it is changed meanwhile.
func (s *core) endGiven(ctx context.Context, k Key, r Record, b *SetBack, latest time.Time) error {
	for ctx.Err() == nil {
		w, err := ended(k, r, b, latest)
		if err != nil || w == nil {
			return err
		}
		c := &Commit{Reads: []Read{{k, r.Version}}, Writes: []Write{*w}, NotAfter: latest.Add(endPatience)}
		if err := s.records.Commit(ctx, c); err != nil || c.Result.Done {
			return err
		}
		r = c.Result.Moved[k]
	}
	return ctx.Err()
}

// ended is what is written in the place of a record; nil: nothing.
func ended(k Key, r Record, b *SetBack, latest time.Time) (*Write, error) {
	kind := k.kind()
	w := &Write{Key: k, Record: r}
	switch {
	case r.Version == (Version{}) || kind == "time":
		return nil, nil
	case kind == "k":
		b.Questions++
		w.Record = Record{}
	case kind == "b" || kind == "open" || kind == "granting" || kind == "questions":
		w.Record = Record{}
	case kind == "s":
		var grants int
		var err error
		if w.Record, grants, err = endGrants(k, r, b.By); err != nil {
			return nil, err
		}
		b.Grants += grants
	case !r.Until.After(latest): // for good, or it was done before a start that was cut off
		return nil, nil
	default:
		w.Until, w.Version = r.Until.Add(-b.By), newVersion()
	}
	return w, nil
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
