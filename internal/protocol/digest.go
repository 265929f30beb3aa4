package protocol

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest is what an approval is bound to.
type Digest [32]byte

// String returns the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Digest returns the SHA-256 of the canonical JSON of the call: an object with
// client, sessionKey, sessionId, agent, tool and params. Keys and strings are
// as in RFC 8785; number literals stay as they were sent, since 8785's own
// numbers would make two long ids equal.
func (c *Call) Digest() Digest {
	all, err := c.Values()
	if err != nil || len(all) == 0 {
		return c.rawDigest()
	}
	text := make([]byte, 0, len(c.Params)+256)
	for _, m := range [...]struct{ name, is string }{ // in the order RFC 8785 wants
		{`{"agent":`, c.Agent()}, {`,"client":`, c.Client}, {`,"params":`, ""},
		{`,"sessionId":`, c.Context.SessionID}, {`,"sessionKey":`, c.Context.SessionKey}, {`,"tool":`, c.Tool},
	} {
		text = append(text, m.name...)
		if m.name == `,"params":` {
			text = canonical(text, all, 0)
		} else if text, err = jsontext.AppendQuote(text, m.is); err != nil {
			return c.rawDigest()
		}
	}
	return sha256.Sum256(append(text, '}'))
}

// canonical appends the value at i as RFC 8785 writes it, but for numbers.
func canonical(to []byte, all Values, i int) []byte {
	v := &all[i]
	switch v.Kind {
	case jsontext.KindString:
		to, _ = jsontext.AppendQuote(to, v.Text) // decoded from valid JSON: it is UTF-8
		return to
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
	default:
		return append(to, v.Text...)
	}
	var inside []int
	for m := i + 1; m < v.Next; m = all[m].Next {
		inside = append(inside, m)
	}
	if v.Kind == jsontext.KindBeginObject {
		slices.SortFunc(inside, func(a, b int) int { return compareUTF16(all[a].Name, all[b].Name) })
	}
	to = append(to, byte(v.Kind))
	for n, m := range inside {
		if n > 0 {
			to = append(to, ',')
		}
		if v.Kind == jsontext.KindBeginObject {
			to, _ = jsontext.AppendQuote(to, all[m].Name)
			to = append(to, ':')
		}
		to = canonical(to, all, m)
	}
	return append(to, byte(v.Kind)+2) // in ASCII } is two after {, and ] two after [
}

// compareUTF16 orders names as RFC 8785 does. That differs from the order of their
// bytes only where one has a character beyond U+FFFF and the other one above U+DFFF.
func compareUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if max(a[i], b[i]) < 0xee {
				return cmp.Compare(a[i], b[i])
			}
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		}
	}
	return cmp.Compare(len(a), len(b))
}

// rawDigest is for a call that did not come from Decode and has no canonical
// form, such as one whose params are not JSON. Different calls must still have
// different digests, and none that a decoded call can have.
func (c *Call) rawDigest() Digest {
	text := []byte("not canonical\n")
	for _, part := range []string{
		c.Client, c.Context.SessionKey, c.Context.SessionID, c.Agent(), c.Tool, string(c.Params),
	} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text)
}
