package passkey

import (
	"encoding/base64"
	"slices"
	"time"

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

// Ring is the list of passkeys.
type Ring struct{ list *hmac.List[Key] }

// Open reads the list as keep last got it; empty: there is none yet.
func Open(key hmac.Key, text string, keep func(text string) error) (*Ring, error) {
	list, err := hmac.OpenList[Key](key, "passkeys", "keys", text, keep)
	return &Ring{list}, err
}

// Of are a person's keys for a site, oldest first; without a site, for all of them.
func (r *Ring) Of(person, site string) (out []Key) {
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(r.list.All(), func(k Key) bool { return k.Of != person || site != "" && k.Site != site })
}

// Add puts a key on a person's list, if it was made in this ceremony.
func (r *Ring) Add(person, name string, made *Registration, want Ceremony, now time.Time) (Key, error) {
	if err := made.Check(want); err != nil {
		return Key{}, err
	}
	k := Key{ID: NameID(made.ID), Of: person, Name: name, Site: want.Site, Public: made.Public, Added: now.UTC().Truncate(time.Second)}
	return k, r.list.Change(func(keys []Key) ([]Key, error) {
		theirs := 0
		for _, other := range keys {
			if other.ID == k.ID {
				return nil, ErrTaken
			}
			if other.Of == person {
				theirs++
			}
		}
		if theirs >= MostKeys {
			return nil, ErrFull
		}
		return append(keys, k), nil
	})
}

// Remove takes a key off a person's list.
func (r *Ring) Remove(person, id string) (gone Key, err error) {
	err = r.list.Change(func(keys []Key) ([]Key, error) {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id && k.Of == person })
		if i < 0 {
			return nil, ErrUnknown
		}
		gone = keys[i]
		return slices.Delete(keys, i, i+1), nil
	})
	return gone, err
}

// Check finds the key that has signed, and notes how far its counter is. A person whose key it has to be may be given; empty: anyone's.
func (r *Ring) Check(person string, a *Assertion, want Ceremony, now time.Time) (used Key, err error) {
	err = r.list.Change(func(keys []Key) ([]Key, error) {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == NameID(a.ID) && (person == "" || k.Of == person) })
		if i < 0 {
			return nil, ErrUnknown
		}
		if keys[i].Site != want.Site {
			return nil, ErrSite
		}
		counter, err := a.check(keys[i].Public, &want)
		if err != nil {
			return nil, err
		}
		if before := keys[i].Counter; (counter != 0 || before != 0) && counter <= before {
			return nil, ErrCounter
		}
		keys[i].Counter, keys[i].Used = counter, now.UTC().Truncate(time.Second)
		used = keys[i]
		return keys, nil
	})
	return used, err
}
