package store

import "errors"

// MaxLine is how long a line of spawned sessions may be: a child of a child of
// a child. A longer one is an error, and so a deny.
const MaxLine = 32

// Spawned is what a root's level is put down to when a child brings it in.
const Spawned = "a spawned session"

// ErrLine says that a line of spawned sessions did not end.
var ErrLine = errors.New("store: the line of parents is too long")
