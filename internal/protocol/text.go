package protocol

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// Hash is "sha256:" and 64 hex digits, or empty.
type Hash string

const hashPrefix = "sha256:"

// HashOf is the hash of a text.
func HashOf[T ~string | ~[]byte](text T) Hash {
	sum := sha256.Sum256([]byte(text))
	return Hash(hashPrefix + hex.EncodeToString(sum[:]))
}

// UnmarshalText reads a hash that the runtime made.
func (h *Hash) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), hashPrefix)
	if !ok || len(digits) != 2*sha256.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return must("be sha256: and 64 hex digits")
	}
	*h = Hash(text)
	return nil
}

// Text is a text whose hash is kept. The text itself lives no longer than the request.
type Text struct {
	Hash Hash
	Text string // empty where only the hash was sent
}

// UnmarshalText reads a text and hashes it.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text{HashOf(text), string(text)}
	return nil
}

// anything is a string's text, or the hash alone of anything else as it was sent.
type anything Text

func (a *anything) read(r *reader) error {
	switch r.peek() {
	case '"', 'n':
		return r.value((*Text)(a), 0)
	}
	raw, err := r.whole()
	a.Hash = HashOf(raw)
	return err
}

// Limits of one text's fingerprints.
const (
	MaxFingerprints = 512
	FingerprintSize = 8 // bytes of one
)

// Fingerprints are those of a text's tokens, one after the other, as package lineage makes them.
type Fingerprints []byte

// Valid reports whether what came from outside can be fingerprints of one text.
func (f Fingerprints) Valid() bool {
	return len(f)%FingerprintSize == 0 && len(f) <= MaxFingerprints*FingerprintSize
}

// UnmarshalText reads them in base64.
func (f *Fingerprints) UnmarshalText(text []byte) (err error) {
	if *f, err = base64.StdEncoding.AppendDecode(nil, text); err != nil || !f.Valid() {
		return must("be base64 of at most 512 times 8 bytes")
	}
	return nil
}
