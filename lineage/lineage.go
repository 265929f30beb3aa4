// Package lineage tells where an argument of a tool call came from: said by the
// user, brought in by a tool some calls ago, or seen nowhere.
//
// It compares fingerprints: keyed hashes of the things in a text that matter
// (addresses, links, hosts, paths, ids, phone and account numbers, amounts, and
// runs of words). docs/spec/lineage.md is the specification, and the plugin for
// OpenClaw has the same in JavaScript, so that a tool's output never has to
// leave the agent's runtime. The package is pure: it keeps nothing, reads no
// clock, and holds no text longer than it takes to fingerprint it. Every scan
// is bounded.
//
// It decides nothing. What it says is evidence for the person who is asked: a
// page can spell an address so that no fingerprint matches, so "seen nowhere"
// is never a reason to trust.
package lineage

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Limits of what is kept of one text.
const (
	MaxChars  = 65536 // code points that are looked at
	MaxValues = 512   // fingerprints of values
	MaxRuns   = 1024  // fingerprints of word runs
)

// Kind is what a fingerprint is of.
type Kind string

// The kinds of values, and runs of words.
const (
	URL     Kind = "url"
	Email   Kind = "email"
	Host    Kind = "host"
	Path    Kind = "path"
	ID      Kind = "id"
	Phone   Kind = "phone"
	Account Kind = "account"
	Amount  Kind = "amount"
	Words   Kind = "words"
)

// order is the one in which values at the same place are listed.
var order = map[Kind]byte{URL: 0, Email: 1, Host: 2, Path: 3, ID: 4, Phone: 5, Account: 6, Amount: 7, Words: 8}

// Fingerprint is a kind and 16 hex digits: "email:9f86d081884c7d65".
type Fingerprint string

// Key is what fingerprints are made under. It is derived from a client's
// secret, so that the plugin and the server have the same.
type Key [sha256.Size]byte

// NewKey derives the key of a secret.
func NewKey(secret []byte) Key {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("verifier-lineage-v1"))
	return Key(mac.Sum(nil))
}

// Of is the fingerprint of one thing in its normal form.
func (k Key) Of(kind Kind, value string) Fingerprint {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(string(kind) + "\n" + value))
	return Fingerprint(string(kind) + ":" + hex.EncodeToString(mac.Sum(nil)[:8]))
}

// Valid reports whether a fingerprint from outside has the right form.
func (f Fingerprint) Valid() bool {
	n := len(f) - 17
	if n < 1 || f[n] != ':' {
		return false
	}
	if _, known := order[Kind(f[:n])]; !known {
		return false
	}
	return strings.Trim(string(f[n+1:]), "0123456789abcdef") == ""
}

// Extract is what is kept of one text.
type Extract struct {
	Fingerprints []Fingerprint // values, then word runs, each once and in the order of the text
	Truncated    bool          // there was more than is kept
}

// Extract fingerprints a text.
func (k Key) Extract(text string) Extract {
	f := fold(text)
	values, moreValues := k.distinct(scanValues(f), MaxValues)
	runs, moreRuns := k.distinct(winnowed(wordRuns(f)), MaxRuns)
	return Extract{append(values, runs...), f.cut || moreValues || moreRuns}
}

// item is one thing in a text, in its normal form, and its position.
type item struct {
	kind     Kind
	value    string
	from, to int // code points of the folded text
}

// distinct fingerprints the first different ones. What repeats costs nothing.
func (k Key) distinct(items []item, most int) (prints []Fingerprint, more bool) {
	type thing struct {
		kind  Kind
		value string
	}
	seen := map[thing]bool{}
	for _, i := range items {
		t := thing{i.kind, i.value}
		if seen[t] {
			continue
		}
		if len(seen) == most {
			return prints, true
		}
		seen[t] = true
		prints = append(prints, k.Of(i.kind, i.value))
	}
	return prints, false
}
