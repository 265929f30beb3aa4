package redact

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

// usual remembers short texts in which there is nothing to hide. Those that stand
// around a call, its session, its agent, why it was allowed, are the same from
// call to call, and to look one up is much quicker than to search it. What comes
// only once, as the id of a request, is not remembered.
type usual struct {
	once [usualSize]atomic.Uint64 // hashes of texts that came once, each at the place that it says

	mu          sync.RWMutex
	recent, old map[string]struct{}
}

const (
	usualSize    = 1024 // texts in either half
	maxUsualText = 256  // bytes
)

// usualSeed keeps anybody from choosing texts with the same hash.
var usualSeed = maphash.MakeSeed()

// others are the places of those texts that have to be searched. Places, not the
// texts themselves: a text can then be where nothing outlives its call.
func (u *usual) others(room []int, texts []*string) []int {
	u.mu.RLock()
	defer u.mu.RUnlock()
	for i, s := range texts {
		if *s != "" && !u.knows(*s) {
			room = append(room, i)
		}
	}
	return room
}

// knows is asked with the lock held.
func (u *usual) knows(s string) bool {
	if _, recent := u.recent[s]; recent {
		return true
	}
	_, old := u.old[s]
	return old
}

// again reports that a text, which was clean beside others, comes for the second
// time.
func (u *usual) again(s string) bool {
	if len(s) > maxUsualText {
		return false
	}
	h := maphash.String(usualSeed, s)
	return u.once[h%usualSize].Swap(h) == h
}

// add remembers a text.
func (u *usual) add(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.recent == nil || len(u.recent) >= usualSize {
		u.recent, u.old = make(map[string]struct{}, usualSize), u.recent
	}
	u.recent[strings.Clone(s)] = struct{}{} // it may be part of a whole call
}
