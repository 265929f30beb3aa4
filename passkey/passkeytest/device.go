// Package passkeytest is an authenticator for tests: it makes passkeys and signs with them, as a phone does, and lies where a test
// wants it to. It shares no code with what checks it.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"
)

// Device holds one passkey.
type Device struct {
	t   testing.TB
	key *ecdsa.PrivateKey
	ID  []byte

	Origin     string // of the page that it believes to be on
	Site       string
	Unverified bool // it does not check who holds it
	Counter    uint32
	Framed     bool // the page is in a frame of another site
}

// New makes a device that is on a page.
func New(t testing.TB, origin, site string) *Device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &Device{t: t, key: key, ID: id, Origin: origin, Site: site}
}

// Made is a ceremony's result, in the names of the page's form fields, as base64url.
type Made map[string]string

// Create makes the passkey for a challenge.
func (d *Device) Create(challenge string) Made {
	d.t.Helper()
	public, err := x509.MarshalPKIXPublicKey(&d.key.PublicKey)
	if err != nil {
		d.t.Fatal(err)
	}
	data := d.data(1 << 6)
	data = append(data, make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.ID))) //nolint:gosec // 16
	data = append(data, d.ID...)
	return Made{"id": text(d.ID), "client": text(d.client("webauthn.create", challenge)), "auth": text(append(data, 0xa0)), "public": text(public)}
}

// Sign signs a challenge.
func (d *Device) Sign(challenge string) Made {
	d.t.Helper()
	d.Counter++
	client, data := d.client("webauthn.get", challenge), d.data(0)
	sum := sha256.Sum256(client)
	sum = sha256.Sum256(append(append([]byte{}, data...), sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, sum[:])
	if err != nil {
		d.t.Fatal(err)
	}
	return Made{"id": text(d.ID), "client": text(client), "auth": text(data), "signature": text(signature)}
}

func (d *Device) client(purpose, challenge string) []byte {
	return fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":%t}`, purpose, challenge, d.Origin, d.Framed)
}

func (d *Device) data(flags byte) []byte {
	site := sha256.Sum256([]byte(d.Site))
	flags |= 1
	if !d.Unverified {
		flags |= 1 << 2
	}
	return binary.BigEndian.AppendUint32(append(site[:], flags), d.Counter)
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
