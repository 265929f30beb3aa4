package push

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
)

// MostDevices is how many devices a person may have.
const MostDevices = 10

// Reasons why the list is not changed.
var (
	ErrFull    = errors.New("push: the person has as many devices as they may")
	ErrUnknown = errors.New("push: the person has no such device")
	errForged  = errors.New("push: the list does not carry this server's seal")
)

// Device is a browser that a person has turned notifications on in.
type Device struct {
	ID      string    `json:"id"`      // of the subscription
	Of      string    `json:"of"`      // whose it is: an approver's id, such as token:owner
	Mark    string    `json:"mark"`    // of the person's token when they did so
	Session string    `json:"session"` // the login they did so with
	Name    string    `json:"name"`    // what the person calls it
	Added   time.Time `json:"added"`
	Subscription
}

// Devices is the list of them. Each change is kept before it counts.
type Devices struct {
	key  hmac.Key
	keep func(text string) error

	mu   sync.Mutex
	list []Device
}

// kept is the list as it is kept. The seal covers all of it.
type kept struct {
	Devices jsontext.Value `json:"devices"`
	Seal    string         `json:"seal"`
}

// Open reads the list as keep last got it; empty: there is none yet.
func Open(key hmac.Key, text string, keep func(text string) error) (*Devices, error) {
	d := &Devices{key: key, keep: keep}
	if text == "" {
		return d, nil
	}
	var k kept
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return nil, err
	}
	if !key.Check(k.Seal, "push-devices", string(k.Devices)) {
		return nil, errForged
	}
	return d, json.Unmarshal(k.Devices, &d.list)
}

// put makes this the list, once it is kept. The caller holds the lock.
func (d *Devices) put(list []Device) error {
	devices, err := json.Marshal(list)
	if err != nil {
		return err
	}
	text, err := json.Marshal(kept{devices, d.key.Seal("push-devices", string(devices))})
	if err == nil {
		err = d.keep(string(text) + "\n")
	}
	if err == nil {
		d.list = list
	}
	return err
}

// All are all devices.
func (d *Devices) All() []Device {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// Of are a person's devices, oldest first.
func (d *Devices) Of(person string) []Device {
	return slices.DeleteFunc(d.All(), func(x Device) bool { return x.Of != person })
}

// Find is a person's device: the one with this endpoint or, if their browser does not know its old endpoint, the last one that they turned
// notifications on in with this login.
func (d *Devices) Find(person, session, endpoint string) (found Device, ok bool) {
	for _, x := range d.Of(person) {
		if x.Endpoint == endpoint {
			return x, true
		}
		if x.Session == session && endpoint == "" {
			found, ok = x, true
		}
	}
	return found, ok
}

// Add puts a device on the list. A browser has one subscription: the person who
// turned notifications on in it before has them there no longer.
func (d *Devices) Add(x Device) error {
	x.ID = ""
	return d.set(x)
}

// Renew puts a device that has another subscription now in the place of what the list has of it.
func (d *Devices) Renew(x Device) error {
	if x.ID == "" {
		return ErrUnknown
	}
	return d.set(x)
}

// set puts a device on the list, in the place of the one that has its ID, if it has one yet.
func (d *Devices) set(x Device) error {
	if err := x.Check(); err != nil {
		return err
	}
	before := x.ID
	x.ID = x.Subscription.ID()
	d.mu.Lock()
	defer d.mu.Unlock()
	list, theirs, found := make([]Device, 0, len(d.list)+1), 0, before == ""
	for _, other := range d.list {
		if other.ID == before && other.Of == x.Of {
			found = true
			continue
		}
		if other.ID == x.ID {
			continue
		}
		if other.Of == x.Of {
			theirs++
		}
		list = append(list, other)
	}
	switch {
	case !found:
		return ErrUnknown
	case theirs >= MostDevices:
		return ErrFull
	}
	return d.put(append(list, x))
}

// Remove takes a device off a person's list.
func (d *Devices) Remove(person, id string) error {
	gone, err := d.RemoveIf(func(x *Device) bool { return x.Of == person && x.ID == id })
	if err == nil && len(gone) == 0 {
		return ErrUnknown
	}
	return err
}

// RemoveIf takes off the list what is to go, and says what that was.
func (d *Devices) RemoveIf(goes func(*Device) bool) (gone []Device, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left []Device
	for _, x := range d.list {
		if goes(&x) {
			gone = append(gone, x)
		} else {
			left = append(left, x)
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	if err := d.put(left); err != nil {
		return nil, err
	}
	return gone, nil
}
