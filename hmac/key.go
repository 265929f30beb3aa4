package hmac

import (
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
)

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
