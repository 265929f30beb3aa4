package session

import "time"

// Note adds to a list of what is worth remembering for a while and what no
// decision depends on: a list may be lost, and then it is only shorter.
type Note struct {
	List    string // two lower-case hex digits, then anything
	Entries [][]byte
	Most    int           // how many entries the list has at most; the oldest fall out
	Keep    time.Duration // how long each entry is kept
}
