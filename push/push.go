// Package push tells a person's phone or computer that a question waits, by Web
// Push: the messages of RFC 8030, encrypted for one browser (RFC 8291) and signed
// by this server (VAPID, RFC 8292). It keeps the list of devices, under this
// server's seal, and sends.
//
// A push service sees that a message comes, from whom, and for which device. It can
// read nothing of it, and all messages have the same length. A message answers
// nothing: an answer needs the session of the person's page.
//
// It refuses an endpoint that is not https, one whose host is an address of this
// machine or of a private network when it is dialled, to follow a redirect, and to
// read more of an answer than it needs. The owner may name services of their own,
// to which the first two do not apply.
package push

import (
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Subscription is where a browser gets its messages, and what they are encrypted
// with.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	Public   []byte `json:"public"` // its public key: p256dh
	Auth     []byte `json:"auth"`
}

// Sizes that RFC 8291 fixes, and the longest endpoint that is taken.
const (
	publicSize  = 65
	authSize    = 16
	maxEndpoint = 2048
)

// ErrSubscription says that what a browser sent is no subscription.
var ErrSubscription = errors.New("push: this is no subscription of a browser")

// Check reports whether it is one.
func (s *Subscription) Check() error {
	if len(s.Endpoint) > maxEndpoint || len(s.Public) != publicSize || len(s.Auth) != authSize {
		return ErrSubscription
	}
	if _, err := ecdh.P256().NewPublicKey(s.Public); err != nil {
		return ErrSubscription
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return ErrSubscription
	}
	return nil
}

// ID names the subscription, and does not tell its endpoint.
func (s *Subscription) ID() string {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// origin is the scheme, host and port of an endpoint.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// Shown seals what a notification of a card shows. Only a notification from which the
// call may be allowed carries it, and the server takes that answer only as long as
// the card would show the same.
func Shown(key hmac.Key, card, title, text string) string {
	return key.Seal("push-shown", card, title, text)
}

// CheckShown reports whether a seal is one of [Shown].
func CheckShown(key hmac.Key, seal, card, title, text string) bool {
	return key.Check(seal, "push-shown", card, title, text)
}
