// Package passkey checks what a person's authenticator has signed, as WebAuthn describes it, and keeps the list of passkeys.
//
// A passkey is a key pair in a phone, a laptop or a security key. It signs only for the site that it was made for, and
// here only after the person has shown who they are by a finger, a face or a PIN (user verification). What it signs is a challenge:
// the code that asks for a signature puts into the challenge what it is to be good for.
//
// Attestation is not asked for. The browser gives the public key in the form that the standard library reads, so that nothing
// here parses CBOR.
//
// The package refuses a signature for another challenge, another site or another origin, from inside a frame, without user
// verification, by a key that is not on the list or is another person's, and one whose counter has not moved on: then the key may have
// been copied. What it parses comes from a browser and is bounded. It does no I/O.
package passkey

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/go-json-experiment/json"
)

// Why a signature is refused. What people read says only that it does not fit.
var (
	ErrFormat    = errors.New("passkey: what the browser sent can't be read")
	ErrType      = errors.New("passkey: it was made for another purpose")
	ErrChallenge = errors.New("passkey: it answers another challenge")
	ErrOrigin    = errors.New("passkey: it was made on another page")
	ErrSite      = errors.New("passkey: it was made for another site")
	ErrVerified  = errors.New("passkey: the person was not verified")
	ErrKey       = errors.New("passkey: the public key is of no kind that is taken")
	ErrSignature = errors.New("passkey: the signature is wrong")
	ErrCounter   = errors.New("passkey: the counter has not moved on: the key may have been copied")
	ErrUnknown   = errors.New("passkey: there is no such key of this person")
	ErrTaken     = errors.New("passkey: the key is on the list already")
	ErrFull      = errors.New("passkey: the person has as many keys as the list takes")
)

// Ceremony is what a signature has to be for.
type Ceremony struct {
	Challenge []byte
	Origin    string // of the page: https://verifier.lan
	Site      string // the host of that page, which the key belongs to
}

// Registration is what a browser sends of a new key.
type Registration struct {
	ID         []byte
	ClientData []byte // JSON that the browser wrote
	AuthData   []byte // what the authenticator says
	Public     []byte // the public key, as an X.509 SubjectPublicKeyInfo
}

// Assertion is what a browser sends of a signature.
type Assertion struct {
	ID         []byte
	ClientData []byte
	AuthData   []byte
	Signature  []byte
}

// Bounds of what is read.
const (
	maxPart = 4 << 10
	maxID   = 1023 // the standard's own
)

const (
	forNew  = "webauthn.create"
	forSign = "webauthn.get"
)

// Flags of authenticator data.
const (
	present  = 1 << 0
	verified = 1 << 2
	newKey   = 1 << 6
	extended = 1 << 7
)

// Sizes of authenticator data.
const (
	headSize   = sha256.Size + 1 + 4
	modelSize  = 16
	lengthSize = 2
)

// Check reports whether a registration is one for this ceremony. The key is then the person's who ran it.
func (r *Registration) Check(want Ceremony) error {
	if err := checkClient(r.ClientData, forNew, &want); err != nil {
		return err
	}
	flags, _, rest, err := checkHead(r.AuthData, &want)
	if err != nil {
		return err
	}
	if flags&newKey == 0 || len(rest) < modelSize+lengthSize {
		return ErrFormat
	}
	rest = rest[modelSize:]
	size := int(binary.BigEndian.Uint16(rest))
	rest = rest[lengthSize:]
	if size == 0 || size > maxID || len(rest) < size || !bytes.Equal(rest[:size], r.ID) {
		return ErrFormat
	}
	_, err = publicKey(r.Public)
	return err
}

// check reports whether an assertion was signed by this key for this ceremony, and gives the authenticator's counter.
func (a *Assertion) check(public []byte, want *Ceremony) (counter uint32, err error) {
	if err := checkClient(a.ClientData, forSign, want); err != nil {
		return 0, err
	}
	flags, counter, rest, err := checkHead(a.AuthData, want)
	if err != nil {
		return 0, err
	}
	if flags&newKey != 0 || len(rest) > 0 && flags&extended == 0 {
		return 0, ErrFormat
	}
	key, err := publicKey(public)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(a.ClientData)
	if !signed(key, append(bytes.Clone(a.AuthData), sum[:]...), a.Signature) {
		return 0, ErrSignature
	}
	return counter, nil
}

// checkClient reads what the browser wrote about where and for what the key was used.
func checkClient(text []byte, purpose string, want *Ceremony) error {
	var c struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}
	if len(text) > maxPart || json.Unmarshal(text, &c) != nil {
		return ErrFormat
	}
	challenge, err := base64.RawURLEncoding.Strict().DecodeString(c.Challenge)
	switch {
	case err != nil:
		return ErrFormat
	case c.Type != purpose:
		return ErrType
	case len(want.Challenge) != sha256.Size || subtle.ConstantTimeCompare(challenge, want.Challenge) != 1:
		return ErrChallenge
	case want.Origin == "" || c.Origin != want.Origin || c.CrossOrigin:
		return ErrOrigin
	}
	return nil
}

// checkHead reads the beginning of what an authenticator says: for which site, and whether the person was verified.
func checkHead(data []byte, want *Ceremony) (flags byte, counter uint32, rest []byte, err error) {
	if len(data) < headSize || len(data) > maxPart {
		return 0, 0, nil, ErrFormat
	}
	site := sha256.Sum256([]byte(want.Site))
	flags = data[sha256.Size]
	switch {
	case want.Site == "" || !bytes.Equal(data[:sha256.Size], site[:]):
		return 0, 0, nil, ErrSite
	case flags&present == 0 || flags&verified == 0:
		return 0, 0, nil, ErrVerified
	}
	return flags, binary.BigEndian.Uint32(data[sha256.Size+1:]), data[headSize:], nil
}

// publicKey reads a key of one of the kinds that browsers are asked for.
func publicKey(der []byte) (crypto.PublicKey, error) {
	if len(der) > maxPart {
		return nil, ErrKey
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, ErrKey
	}
	switch k := key.(type) {
	case ed25519.PublicKey:
		return k, nil
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	case *rsa.PublicKey:
		if k.Size() >= 2048/8 && k.Size() <= 8192/8 {
			return k, nil
		}
	}
	return nil, ErrKey
}

func signed(key crypto.PublicKey, message, signature []byte) bool {
	sum := sha256.Sum256(message)
	switch k := key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(k, message, signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, sum[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}
