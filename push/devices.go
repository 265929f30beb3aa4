package push

import (
	"errors"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// MostDevices is how many devices a person may have.
const MostDevices = 10

// Reasons why the list is not changed.
var (
	ErrFull    = errors.New("push: the person has as many devices as they may")
	ErrUnknown = errors.New("push: the person has no such device")
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

// Devices is the list of them.
type Devices struct{ list *hmac.List[Device] }

// Open reads the list as keep last got it; empty: there is none yet.
func Open(key hmac.Key, text string, keep func(text string) error) (*Devices, error) {
	list, err := hmac.OpenList[Device](key, "push-devices", "devices", text, keep)
	return &Devices{list}, err
}

// All are all devices.
func (d *Devices) All() []Device { return d.list.All() }

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
	return d.list.Change(func(list []Device) ([]Device, error) {
		found := before == ""
		list = slices.DeleteFunc(list, func(other Device) bool {
			same := other.ID == before && other.Of == x.Of
			found = found || same
			return same || other.ID == x.ID
		})
		theirs := 0
		for _, other := range list {
			if other.Of == x.Of {
				theirs++
			}
		}
		switch {
		case !found:
			return nil, ErrUnknown
		case theirs >= MostDevices:
			return nil, ErrFull
		}
		return append(list, x), nil
	})
}

// Remove takes a device off a person's list.
func (d *Devices) Remove(person, id string) error {
	gone, err := d.RemoveIf(func(x *Device) bool { return x.Of == person && x.ID == id })
	if err == nil && len(gone) == 0 {
		return ErrUnknown
	}
	return err
}

// errNone ends a change that changes nothing.
var errNone = errors.New("push: there is no such device")

// RemoveIf takes off the list what is to go, and says what that was.
func (d *Devices) RemoveIf(goes func(*Device) bool) (gone []Device, err error) {
	err = d.list.Change(func(list []Device) ([]Device, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(x Device) bool { return goes(&x) })
		gone = slices.DeleteFunc(list, func(x Device) bool { return !goes(&x) })
		if len(gone) == 0 {
			return nil, errNone
		}
		return left, nil
	})
	switch {
	case errors.Is(err, errNone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return gone, nil
}
