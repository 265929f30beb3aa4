package protocol

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// plainDigest is the digest as package jsontext would have it.
func plainDigest(c *Call) Digest {
	params := jsontext.Value(bytes.Clone(c.Params))
	if params.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return c.rawDigest()
	}
	text := []byte(`{"agent":"","client":"me","params":` + string(params) + `,"sessionId":"","sessionKey":"","tool":"t"}`)
	return sha256.Sum256(text)
}

func someJSON(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 && kind > 4 {
			kind = 0
		}
		switch kind {
		case 5, 6:
			var parts []string
			for range rapid.IntRange(0, 5).Draw(t, "size") {
				part := someJSON(depth-1).Draw(t, "part")
				if kind == 6 {
					part = someName().Draw(t, "name") + space + ":" + part
				}
				parts = append(parts, part)
			}
			ends := [2]string{"[", "]"}
			if kind == 6 {
				ends = [2]string{"{", "}"}
			}
			return ends[0] + space + strings.Join(parts, space+",") + space + ends[1]
		case 4:
			return someName().Draw(t, "string")
		default:
			return rapid.SampledFrom([]string{"1", "-0", "1.50e3", "12345678901234567890", "true", "false", "null", `"a,}]{\""`, "", "{", "nul"}).Draw(t, "scalar")
		}
	})
}

func someName() *rapid.Generator[string] {
	names := []string{`""`, `"a"`, `"b"`, `"a b"`, `"a!"`, `"B"`, `"10"`, `"9"`, `"\u0061"`, `"é"`, `"\ue000"`, `"😀"`, `"\ud83d\ude00"`, `"x\"y"`, `"\/"`}
	return rapid.OneOf(rapid.SampledFrom(names[:8]), rapid.SampledFrom(names), rapid.StringMatching(`"[a-z]{1,3}"`))
}

func TestTheDigestIsThatOfTheCanonicalText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Call{Client: "me", Tool: "t", Params: jsontext.Value(someJSON(4).Draw(t, "params"))}
		if got, want := c.Digest(), plainDigest(&c); got != want {
			t.Fatalf("%s has the digest %s, not %s", c.Params, got, want)
		}
	})
}
