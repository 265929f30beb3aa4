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
