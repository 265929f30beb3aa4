package lineage

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// Folded is what a call is about but for its content, without what makes two spellings of the same differ: case, spaces and what can't
// be seen, and the order of its arguments. It is empty where the params can't be read.
func Folded(tool string, params jsontext.Value, content []string) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(params, &members) != nil {
		return ""
	}
	maps.DeleteFunc(members, func(name string, _ jsontext.Value) bool { return slices.Contains(content, name) })
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return tool + "\x00" + strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, string(norm.NFKC.Bytes(text)))
}

// Spelled is a digest of Folded, after one of which params are content: two can be compared only where those are the same. It is empty
// where Folded is.
func Spelled(tool string, params jsontext.Value, content []string) string {
	folded := Folded(tool, params, content)
	if folded == "" {
		return ""
	}
	names := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(content)), "\x00")))
	sum := sha256.Sum256([]byte(folded))
	return hex.EncodeToString(names[:8]) + ":" + hex.EncodeToString(sum[:])
}
