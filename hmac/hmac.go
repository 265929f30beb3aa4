// Package hmac signs and checks everything that crosses a trust boundary: requests and answers under a client's secret,
// stored approvals and lists under the server's key.
//
// It compares in constant time, tries every secret there is, and refuses to work with an empty secret: nothing is
// signed by it and nothing matches it. It knows no configuration and says of a signature that does not match only that
// it does not. It keeps no secret that it was given.
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

// Sign returns the HMAC-SHA256 of a request's raw body in hex, or "" for an empty secret.
func Sign(secret, body []byte) string { return sign(secret, body) }

// SignAnswer signs an answer in the same way, bound to the request it answers.
func SignAnswer(secret []byte, requestID string, body []byte) string {
	return sign(secret, answerTo(requestID), body)
}

// Match returns the index of the first secret under which header signs body, or -1. The header is 64 hex digits in
// either case, with or without "sha256=" in front. All secrets are tried, so that the time does not tell which one
// fits.
func Match(header string, body []byte, secrets ...[]byte) int { return match(header, secrets, body) }

// MatchAnswer reports whether header signs the answer to that request.
func MatchAnswer(secret []byte, requestID string, body []byte, header string) bool {
	return match(header, [][]byte{secret}, answerTo(requestID), body) == 0
}

// answerTo begins what is signed of an answer, so that its signature is none of a request: a request's body is a JSON
// object and can't start like this. A request id has no line break (the protocol allows visible ASCII only), so id and
// body can't be shifted.
func answerTo(requestID string) []byte { return []byte("verifier-answer-v1\n" + requestID + "\n") }

func sign(secret []byte, parts ...[]byte) string {
	if len(secret) == 0 {
		return ""
	}
	return hex.EncodeToString(mac(secret, parts...))
}

func match(header string, secrets [][]byte, parts ...[]byte) int {
	// OpenClaw's client writes the scheme, the published protocol does not. Decoding may take its time: the header is
	// what the other side sent, not what we keep.
	want, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil {
		return -1
	}
	index := -1
	for i := len(secrets) - 1; i >= 0; i-- { // backwards: the first one wins
		if len(secrets[i]) > 0 {
			index = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(mac(secrets[i], parts...), want), i, index)
		}
	}
	return index
}

// mac returns the HMAC-SHA256 of the parts, one behind the other.
func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// Key is the server's own key. Grants, votes and standing decisions carry a MAC under it, so that writing to the store
// forges nothing.
type Key []byte

// Seal returns 32 hex digits over the purpose and the parts, or "" for an empty key: 128 bits are enough for MACs that
// are checked online, one try at a time. A MAC made for one purpose is no good for another, and no two different lists
// of parts share one.
func (k Key) Seal(purpose string, parts ...string) string {
	if len(k) == 0 {
		return ""
	}
	// Each string is written behind its length. The first byte is therefore always zero, which also keeps seals apart
	// from the approval codes that package codes makes under the same key: those start with a letter.
	var text []byte
	for _, s := range append([]string{purpose}, parts...) {
		text = append(binary.BigEndian.AppendUint64(text, uint64(len(s))), s...)
	}
	return sign(k, text)[:32]
}

// Check reports whether mac is what Seal returns for purpose and parts, digit for digit, in constant time. It is false
// for an empty key.
func (k Key) Check(mac, purpose string, parts ...string) bool {
	return len(k) > 0 && hmac.Equal([]byte(mac), []byte(k.Seal(purpose, parts...)))
}
