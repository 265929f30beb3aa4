// Package codes makes the short names of an approval and reads the commands a
// person types about one.
//
// A code is what only approvers see; a ref is what the agent may read. The two
// share nothing: a ref is derived from an id by hashing alone and a code needs
// the server's key. Parse takes a whole message that is exactly one command,
// or refuses it; it looks nothing up, decides nothing, and never repeats what
// was typed, since that may hold a code.
package codes

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// codeLen is the number of hex digits of a code: what a person can type, with
// the number of tries bounded elsewhere.
const codeLen = 8

// crockford is base32 without the letters that are mistaken for others.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// Code returns the approval code of a card. Any replica with the key can make it
// again, so no store needs to hold it. With an empty key everyone could, so
// the code is then "", which no one can type.
func Code(key []byte, cardID string) string {
	if len(key) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, "code\n")
	io.WriteString(mac, cardID)
	return hex.EncodeToString(mac.Sum(nil))[:codeLen]
}

// Ref returns four characters that name a card or a session in what the agent
// reads. It helps to find the thing and gives no power over it.
func Ref(id string) string {
	sum := sha256.Sum256([]byte(id))
	bits := uint32(sum[0])<<16 | uint32(sum[1])<<8 | uint32(sum[2])
	var ref [4]byte
	for i := range ref {
		ref[i] = crockford[bits>>(19-5*i)&31]
	}
	return string(ref[:])
}

// NewID returns 128 random bits in hex. A nil source means [rand.Reader].
func NewID(source io.Reader) (string, error) {
	source = cmp.Or(source, rand.Reader)
	var id [16]byte
	if _, err := io.ReadFull(source, id[:]); err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}
