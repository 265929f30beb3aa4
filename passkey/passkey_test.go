package passkey_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/passkey"
	"github.com/openclaw-verifier/verifier/passkey/passkeytest"
)

const (
	page = "https://verifier.lan"
	site = "verifier.lan"
	ann  = "token:Ann"
)

var (
	key = hmac.Key("the server's own key, 32 bytes or more")
	now = time.Date(2026, 11, 17, 8, 0, 0, 0, time.UTC)
)

func challenge(s string) (raw []byte, text string) {
	sum := sha256.Sum256([]byte(s))
	return sum[:], base64.RawURLEncoding.EncodeToString(sum[:])
}

func want(s string) passkey.Ceremony {
	raw, _ := challenge(s)
	return passkey.Ceremony{Challenge: raw, Origin: page, Site: site}
}

func raw(t testing.TB, m passkeytest.Made, name string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(m[name])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func created(t testing.TB, m passkeytest.Made) *passkey.Registration {
	return &passkey.Registration{ID: raw(t, m, "id"), ClientData: raw(t, m, "client"), AuthData: raw(t, m, "auth"), Public: raw(t, m, "public")}
}

func signature(t testing.TB, d *passkeytest.Device, s string) *passkey.Assertion {
	_, text := challenge(s)
	m := d.Sign(text)
	return &passkey.Assertion{ID: raw(t, m, "id"), ClientData: raw(t, m, "client"), AuthData: raw(t, m, "auth"), Signature: raw(t, m, "signature")}
}

// shelf keeps the list as a file would.
type shelf struct{ text string }

func (s *shelf) keep(text string) error { s.text = text; return nil }

func enrolled(t testing.TB) (*passkey.Ring, *passkeytest.Device, *shelf) {
	t.Helper()
	s := &shelf{}
	ring, err := passkey.Open(key, "", s.keep)
	if err != nil {
		t.Fatal(err)
	}
	d := passkeytest.New(t, page, site)
	_, text := challenge("new")
	if _, err := ring.Add(ann, "my phone", created(t, d.Create(text)), want("new"), now); err != nil {
		t.Fatal(err)
	}
	return ring, d, s
}

func TestASignatureCounts(t *testing.T) {
	ring, d, s := enrolled(t)
	k, err := ring.Check(ann, signature(t, d, "this"), want("this"), now)
	if err != nil || k.Name != "my phone" || k.Counter != 1 {
		t.Fatalf("got %+v, %v", k, err)
	}
	again, err := passkey.Open(key, s.text, s.keep)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Check(ann, signature(t, d, "that"), want("that"), now); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if _, err := passkey.Open(key, strings.Replace(s.text, "Ann", "Eve", 1), s.keep); err == nil {
		t.Error("a list that someone changed was taken")
	}
}

func TestASignatureIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*passkeytest.Device)
		want error
	}{
		"on another page":           {func(d *passkeytest.Device) { d.Origin = "https://evil.example" }, passkey.ErrOrigin},
		"on another port":           {func(d *passkeytest.Device) { d.Origin = page + ":8443" }, passkey.ErrOrigin},
		"in a frame":                {func(d *passkeytest.Device) { d.Framed = true }, passkey.ErrOrigin},
		"for another site":          {func(d *passkeytest.Device) { d.Site = "evil.example" }, passkey.ErrSite},
		"without verification":      {func(d *passkeytest.Device) { d.Unverified = true }, passkey.ErrVerified},
		"with a counter gone back":  {func(d *passkeytest.Device) { d.Counter = 3 }, passkey.ErrCounter},
		"with a counter that stays": {func(d *passkeytest.Device) { d.Counter = 4 }, passkey.ErrCounter},
		"by another key":            {func(d *passkeytest.Device) { id := d.ID; *d = *passkeytest.New(t, page, site); d.ID, d.Counter = id, 9 }, passkey.ErrSignature},
		"by a key that is not here": {func(d *passkeytest.Device) { d.ID = []byte("another") }, passkey.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			ring, d, _ := enrolled(t)
			d.Counter = 4
			if _, err := ring.Check(ann, signature(t, d, "before"), want("before"), now); err != nil {
				t.Fatal(err)
			}
			c.edit(d)
			if _, err := ring.Check(ann, signature(t, d, "this"), want("this"), now); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	ring, d, _ := enrolled(t)
	if _, err := ring.Check(ann, signature(t, d, "this"), want("that"), now); !errors.Is(err, passkey.ErrChallenge) {
		t.Errorf("another challenge: %v", err)
	}
	if _, err := ring.Check("token:Bob", signature(t, d, "this"), want("this"), now); !errors.Is(err, passkey.ErrUnknown) {
		t.Errorf("as another person: %v", err)
	}
	if _, err := ring.Remove(ann, passkey.NameID(d.ID)); err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Check(ann, signature(t, d, "this"), want("this"), now); !errors.Is(err, passkey.ErrUnknown) {
		t.Errorf("a key that was removed: %v", err)
	}
}

func TestANewKeyIsRefused(t *testing.T) {
	_, text := challenge("new")
	for name, edit := range map[string]func(*passkeytest.Device, *passkey.Registration){
		"for another site":     func(_ *passkeytest.Device, r *passkey.Registration) { r.AuthData[0] ^= 1 },
		"without verification": func(_ *passkeytest.Device, r *passkey.Registration) { r.AuthData[32] &^= 4 },
		"with another id":      func(_ *passkeytest.Device, r *passkey.Registration) { r.ID = []byte("other") },
		"cut short":            func(_ *passkeytest.Device, r *passkey.Registration) { r.AuthData = r.AuthData[:40] },
		"with no public key":   func(_ *passkeytest.Device, r *passkey.Registration) { r.Public = nil },
		"that is a signature": func(_ *passkeytest.Device, r *passkey.Registration) {
			r.ClientData = bytes.Replace(r.ClientData, []byte("create"), []byte("get"), 1)
		},
		"with a member twice": func(_ *passkeytest.Device, r *passkey.Registration) {
			r.ClientData = append([]byte(`{"origin":"`+page+`",`), r.ClientData[1:]...)
		},
		"longer than any is ever": func(_ *passkeytest.Device, r *passkey.Registration) {
			r.AuthData = append(r.AuthData, make([]byte, 5000)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := passkeytest.New(t, page, site)
			r := created(t, d.Create(text))
			edit(d, r)
			if err := r.Check(want("new")); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

func TestAPersonHasOnlySoManyKeys(t *testing.T) {
	ring, first, _ := enrolled(t)
	_, text := challenge("new")
	if _, err := ring.Add("token:Bob", "", created(t, first.Create(text)), want("new"), now); !errors.Is(err, passkey.ErrTaken) {
		t.Errorf("another person's key: %v", err)
	}
	for i := 1; ; i++ {
		_, err := ring.Add(ann, "", created(t, passkeytest.New(t, page, site).Create(text)), want("new"), now)
		if errors.Is(err, passkey.ErrFull) && i == passkey.MostKeys {
			return
		}
		if err != nil || i > passkey.MostKeys {
			t.Fatalf("key %d: %v", i, err)
		}
	}
}

func FuzzRegistration(f *testing.F) {
	_, text := challenge("new")
	d := passkeytest.New(f, page, site)
	r := created(f, d.Create(text))
	f.Add(r.ID, r.ClientData, r.AuthData, r.Public)
	f.Fuzz(func(t *testing.T, id, client, auth, public []byte) {
		r := &passkey.Registration{ID: id, ClientData: client, AuthData: auth, Public: public}
		if r.Check(want("new")) == nil && (!bytes.Contains(auth, id) || len(id) == 0) {
			t.Error("a key was taken that the authenticator does not name")
		}
	})
}

func FuzzAssertion(f *testing.F) {
	ring, d, _ := enrolled(f)
	a := signature(f, d, "this")
	f.Add(a.ClientData, a.AuthData, a.Signature)
	f.Fuzz(func(t *testing.T, client, auth, signed []byte) {
		got := &passkey.Assertion{ID: a.ID, ClientData: client, AuthData: auth, Signature: signed}
		if _, err := ring.Check(ann, got, want("this"), now); err == nil && (!bytes.Equal(client, a.ClientData) || !bytes.Equal(auth, a.AuthData)) {
			t.Error("something was taken that the key did not sign")
		}
	})
}
