// Package hmac signs and checks everything that crosses a trust boundary:
// requests and answers under a client's secret, stored approvals and lists
// under the server's key.
//
// It compares in constant time, tries every secret there is, and refuses to
// work with an empty secret: nothing is signed by it and nothing matches it.
// It knows no configuration and says of a signature that does not match only
// that it does not. It keeps no secret that it was given.
package hmac

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// The headers that carry a signature.
const (
	RequestHeader = "X-OpenClaw-Signature"
	AnswerHeader  = "X-Verifier-Signature"
)

// scheme may stand before the digits: OpenClaw's client writes it, the
// published protocol does not.
const scheme = "sha256="

// answerPrefix keeps the signature of an answer from being one of a request: a
// request's body is a JSON object and can't start like this.
const answerPrefix = "verifier-answer-v1\n"

// Sign returns the HMAC-SHA256 of a request's raw body in hex, or "" for an
// empty secret.
func Sign(secret, body []byte) string {
	if len(secret) == 0 {
		return ""
	}
	sum := mac(secret, body)
	return hex.EncodeToString(sum[:])
}

// Match returns the index of the first secret under which header signs body, or
// -1. The header is 64 hex digits in either case, with or without "sha256=" in
// front. All secrets are tried, so that the time does not tell which one fits.
func Match(header string, body []byte, secrets ...[]byte) int {
	want, ok := parse(header)
	if !ok {
		return -1
	}
	index := -1
	for i := len(secrets) - 1; i >= 0; i-- { // backwards: the first one wins
		sum := mac(secrets[i], body)
		equal := subtle.ConstantTimeCompare(sum[:], want[:]) & notEmpty(secrets[i])
		index = subtle.ConstantTimeSelect(equal, i, index)
	}
	return index
}

// SignAnswer returns the HMAC-SHA256 in hex of an answer, bound to the request
// it answers, or "" for an empty secret. A request id has no line break (the
// protocol allows visible ASCII only), so id and body can't be shifted.
func SignAnswer(secret []byte, requestID string, body []byte) string {
	if len(secret) == 0 {
		return ""
	}
	sum := macAnswer(secret, requestID, body)
	return hex.EncodeToString(sum[:])
}

// MatchAnswer reports whether header signs the answer to that request.
func MatchAnswer(secret []byte, requestID string, body []byte, header string) bool {
	want, ok := parse(header)
	if !ok || len(secret) == 0 {
		return false
	}
	sum := macAnswer(secret, requestID, body)
	return subtle.ConstantTimeCompare(sum[:], want[:]) == 1
}

// parse reads a signature header. It may take its time: the header is what the
// other side sent, not what we keep.
func parse(header string) (sum [sha256.Size]byte, ok bool) {
	digits := strings.TrimPrefix(header, scheme)
	if len(digits) != hex.EncodedLen(len(sum)) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(digits))
	return sum, err == nil
}

// mac returns the HMAC-SHA256 of the parts, one behind the other.
func mac(key []byte, parts ...[]byte) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(sum[:0])
	return sum
}

func macAnswer(secret []byte, requestID string, body []byte) [sha256.Size]byte {
	return mac(secret, []byte(answerPrefix+requestID+"\n"), body)
}

func notEmpty(secret []byte) int {
	if len(secret) == 0 {
		return 0
	}
	return 1
}

// Key is the server's own key. Grants, votes and standing decisions carry a MAC
// under it, so that writing to the store forges nothing.
type Key []byte

// sealSize is 128 bits: these MACs are checked online, one try at a time.
const sealSize = 16

// Seal returns 32 hex digits over the purpose and the parts, or "" for an empty
// key. A MAC made for one purpose is no good for another, and no two different
// lists of parts share one.
func (k Key) Seal(purpose string, parts ...string) string {
	if len(k) == 0 {
		return ""
	}
	sum := k.seal(purpose, parts)
	return hex.EncodeToString(sum[:])
}

// Check reports whether mac is what Seal returns for purpose and parts, digit
// for digit, in constant time. It is false for an empty key.
func (k Key) Check(mac, purpose string, parts ...string) bool {
	return len(k) > 0 && hmac.Equal([]byte(mac), []byte(k.Seal(purpose, parts...)))
}

// seal writes each string behind its length. The first byte is therefore always
// zero, which also keeps seals apart from the approval codes that package codes
// makes under the same key: those start with a letter.
func (k Key) seal(purpose string, parts []string) (sum [sealSize]byte) {
	text := appendString(nil, purpose)
	for _, p := range parts {
		text = appendString(text, p)
	}
	whole := mac(k, text)
	copy(sum[:], whole[:])
	return sum
}

func appendString(text []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(text, uint64(len(s))), s...)
}
