package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// ticket lets its bearer in: as a session, which the page's script sends in a
// header, or once, as a link. It is sealed and kept nowhere here; the store knows
// its id for as long as it lives, and what ends it early.
type ticket struct {
	Person string
	Viewer bool // may look and not answer, whatever the person may
	Until  time.Time
	ID     string // random, 128 bits in hex
}

// What a ticket may be for.
const (
	forSession = "page-session"
	forLink    = "page-link"
)

const maxTicket = 1024

func newTicket(person string, viewer bool, until time.Time) ticket {
	var id [16]byte
	rand.Read(id[:]) // it never fails
	return ticket{Person: person, Viewer: viewer, Until: until, ID: hex.EncodeToString(id[:])}
}

// tickets are written, opened and ended here. It is all that logins and sessions rest on.
type tickets struct {
	key    hmac.Key
	counts Tries
	people func() People
	now    func() time.Time
}

// link makes a ticket that is good once and for ten minutes.
func (s *tickets) link(ctx context.Context, purpose, person string, viewer bool) (t ticket, text string, err error) {
	t = newTicket(person, viewer, s.now().Add(linkLife).Truncate(time.Second))
	text, ok := s.write(purpose, t)
	if !ok {
		return t, "", errors.New("web: there is no token of that name")
	}
	return t, text, s.issue(ctx, purpose, t.ID, linkLife)
}

// issue begins the life of a ticket. The store ends it by its own clock, which is
// never set back: the end in the ticket itself goes by a clock that may be.
func (s *tickets) issue(ctx context.Context, purpose, id string, life time.Duration) error {
	_, err := s.counts.Count(ctx, purpose+"-issued:"+id, life, true)
	return err
}

// lives reports whether a ticket was issued and the store has not ended it.
func (s *tickets) lives(ctx context.Context, purpose, id string, life time.Duration) (bool, error) {
	n, err := s.counts.Count(ctx, purpose+"-issued:"+id, life, false)
	return n > 0, err
}

// unused reads a link, if the store has not ended it and it was not used before. With use it is used up: of several who do so at once the
// first has it.
func (s *tickets) unused(ctx context.Context, purpose, text string, use bool) (t ticket, ok bool, err error) {
	if t, ok = s.read(purpose, text); !ok {
		return t, false, nil
	}
	if ok, err = s.lives(ctx, purpose, t.ID, linkLife); err != nil || !ok {
		return t, false, err
	}
	uses, err := s.counts.Count(ctx, purpose+":"+t.ID, 2*linkLife, use)
	if use {
		uses-- // this time
	}
	return t, err == nil && uses == 0, err
}

// write seals a ticket. The person's mark is in the seal: it is void once their
// token is another.
func (s *tickets) write(purpose string, t ticket) (string, bool) {
	mark, ok := s.people().Mark(t.Person)
	if !ok {
		return "", false
	}
	parts := t.parts()
	return strings.Join(append(parts, s.key.Seal(purpose, append(parts, mark)...)), "."), true
}

func (t *ticket) parts() []string {
	role := "a"
	if t.Viewer {
		role = "v"
	}
	return []string{base64.RawURLEncoding.EncodeToString([]byte(t.Person)), role, strconv.FormatInt(t.Until.Unix(), 10), t.ID}
}

// read opens a ticket that was sealed for this purpose and has not expired.
func (s *tickets) read(purpose, text string) (ticket, bool) {
	f := strings.Split(text, ".")
	if len(text) > maxTicket || len(f) != 5 {
		return ticket{}, false
	}
	person, errPerson := base64.RawURLEncoding.Strict().DecodeString(f[0])
	until, errUntil := strconv.ParseInt(f[2], 10, 64)
	if errPerson != nil || errUntil != nil {
		return ticket{}, false
	}
	t := ticket{Person: string(person), Viewer: f[1] != "a", Until: time.Unix(until, 0), ID: f[3]}
	mark, known := s.people().Mark(t.Person)
	ok := s.key.Check(f[4], purpose, f[0], f[1], f[2], f[3], mark)
	return t, ok && known && s.now().Before(t.Until)
}
