package store

import (
	"context"
	"time"
)

// Commit is a change of documents of one client.
type Commit struct {
	Read    []Ref
	Write   []Doc
	By      time.Time
	Publish string
}

// Result is what became of it.
type Result struct {
	Moved []Doc
	Late  bool
	Now   time.Time
}

// Doc is a document as a backend keeps it.
type Doc struct {
	Key     string
	Version string
	Data    []byte
	Keep    time.Duration
}

// Ref is a document that a commit rests on.
type Ref struct{ Key, Version string }

// Store is safe for concurrent use.
type Store struct{ o Options }

func Open(ctx context.Context, o Options) (*Store, error)                        { panic("soon") }
func (s *Store) AcceptLoss(ctx context.Context) error                            { panic("soon") }
func (s *Store) Lost(ctx context.Context) ([]string, error)                      { panic("soon") }
func (s *Store) Ready(ctx context.Context) error                                 { panic("soon") }
func (s *Store) Watch(ctx context.Context, heard func(what string)) error        { panic("soon") }
func (s *Store) Close() error                                                    { panic("soon") }
func (s *Store) Update(ctx context.Context, n Name, fn func(t *Tx) error) error  { panic("soon") }
func (s *Store) Look(ctx context.Context, n Name) (Conversation, error)          { panic("soon") }
func (s *Store) Find(ctx context.Context, ref string) (Name, error)              { panic("soon") }
func (s *Store) Card(ctx context.Context, code string) (*Card, time.Time, error) { panic("soon") }
func (s *Store) Cards(ctx context.Context) ([]Card, time.Time, error)            { panic("soon") }
func (s *Store) Grants(ctx context.Context) ([]Given, time.Time, error)          { panic("soon") }
func (s *Store) Pause(ctx context.Context, p Pause) error                        { panic("soon") }
func (s *Store) Pauses(ctx context.Context) ([]Pause, error)                     { panic("soon") }
func (s *Store) Forgive(ctx context.Context, agent string) error                 { panic("soon") }
func (s *Store) ClearUnseen(ctx context.Context, ref string) (bool, error)       { panic("soon") }
func (s *Store) Count(c context.Context, n string, w time.Duration, add bool) (int, error) {
	panic("soon")
}
func (s *Store) Lease(c context.Context, n, holder string, k time.Duration) (bool, error) {
	panic("soon")
}
func (s *Store) Keep(ctx context.Context, name string, data []byte) error { panic("soon") }
func (s *Store) Kept(ctx context.Context, name string) ([]byte, error)    { panic("soon") }

func (t *Tx) Paused(agent string) *Pause                           { panic("soon") }
func (t *Tx) Request(id string) *Request                           { panic("soon") }
func (t *Tx) Decide(r Request)                                     { panic("soon") }
func (t *Tx) Other(n Name) (*Conversation, error)                  { panic("soon") }
func (t *Tx) Join(parent Name, under string) error                 { panic("soon") }
func (t *Tx) Card(id string) (*Card, error)                        { panic("soon") }
func (t *Tx) PutCard(c *Card)                                      { panic("soon") }
func (t *Tx) Always(agent string) (*Always, error)                 { panic("soon") }
func (t *Tx) PutAlways(agent string, a *Always)                    { panic("soon") }
func (t *Tx) Side() (*Side, error)                                 { panic("soon") }
func (t *Tx) PutSide(s *Side)                                      { panic("soon") }
func (t *Tx) Prompted(agent string, most int) (ok bool, err error) { panic("soon") }
func (t *Tx) MarkUnseen(by string)                                 { panic("soon") }
