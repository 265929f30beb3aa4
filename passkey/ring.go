package passkey

import (
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
)

// MostKeys is how many passkeys a person may have.
const MostKeys = 10

// Key is a passkey on the list.
type Key struct {
	ID      string    `json:"id"`   // the credential's, in base64url
	Of      string    `json:"of"`   // whose it is: an approver's id, such as token:owner
	Name    string    `json:"name"` // what the person calls it
	Site    string    `json:"site"`
	Public  []byte    `json:"public"`
	Counter uint32    `json:"counter"`
	Added   time.Time `json:"added"`
	Used    time.Time `json:"used,omitzero"`
}

// NameID is a credential's id as the list has it.
func NameID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// Ring is the list of passkeys. Each change is kept before it counts.
type Ring struct {
	key  hmac.Key
	keep func(text string) error

	mu   sync.Mutex
	keys []Key
}

// kept is the list as it is kept. The seal covers all of it, so that no line of an older list can be put back alone.
type kept struct {
	Keys jsontext.Value `json:"keys"`
	Seal string         `json:"seal"`
}

var errForged = errors.New("passkey: the list does not carry this server's seal")

// Open reads the list as keep last got it; empty: there is none yet.
func Open(key hmac.Key, text string, keep func(text string) error) (*Ring, error) {
	r := &Ring{key: key, keep: keep}
	if text == "" {
		return r, nil
	}
	var k kept
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return nil, err
	}
	if !key.Check(k.Seal, "passkeys", string(k.Keys)) {
		return nil, errForged
	}
	return r, json.Unmarshal(k.Keys, &r.keys)
}

// put makes these the keys, once they are kept. The caller holds the lock.
func (r *Ring) put(keys []Key) error {
	list, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	text, err := json.Marshal(kept{list, r.key.Seal("passkeys", string(list))})
	if err == nil {
		err = r.keep(string(text) + "\n")
	}
	if err == nil {
		r.keys = keys
	}
	return err
}

// Of are a person's keys for a site, oldest first; without a site, for all of them.
func (r *Ring) Of(person, site string) (out []Key) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.keys {
		if k.Of == person && (site == "" || k.Site == site) {
			out = append(out, k)
		}
	}
	return out
}

// Add puts a key on a person's list, if it was made in this ceremony.
func (r *Ring) Add(person, name string, made *Registration, want Ceremony, now time.Time) (Key, error) {
	if err := made.Check(want); err != nil {
		return Key{}, err
	}
	k := Key{ID: NameID(made.ID), Of: person, Name: name, Site: want.Site, Public: made.Public, Added: now.UTC().Truncate(time.Second)}
	r.mu.Lock()
	defer r.mu.Unlock()
	theirs := 0
	for _, other := range r.keys {
		if other.ID == k.ID {
			return Key{}, ErrTaken
		}
		if other.Of == person {
			theirs++
		}
	}
	if theirs >= MostKeys {
		return Key{}, ErrFull
	}
	return k, r.put(append(slices.Clone(r.keys), k))
}

// Remove takes a key off a person's list.
func (r *Ring) Remove(person, id string) (Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.keys, func(k Key) bool { return k.ID == id && k.Of == person })
	if i < 0 {
		return Key{}, ErrUnknown
	}
	gone := r.keys[i]
	return gone, r.put(slices.Delete(slices.Clone(r.keys), i, i+1))
}

// Check finds the key that has signed, and notes how far its counter is. A person whose key it has to be may be given; empty: anyone's.
func (r *Ring) Check(person string, a *Assertion, want Ceremony, now time.Time) (Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.keys, func(k Key) bool { return k.ID == NameID(a.ID) && (person == "" || k.Of == person) })
	if i < 0 {
		return Key{}, ErrUnknown
	}
	if r.keys[i].Site != want.Site {
		return Key{}, ErrSite
	}
	counter, err := a.check(r.keys[i].Public, &want)
	if err != nil {
		return Key{}, err
	}
	if before := r.keys[i].Counter; (counter != 0 || before != 0) && counter <= before {
		return Key{}, ErrCounter
	}
	keys := slices.Clone(r.keys)
	keys[i].Counter, keys[i].Used = counter, now.UTC().Truncate(time.Second)
	return keys[i], r.put(keys)
}
