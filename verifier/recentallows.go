package verifier

import (
	"encoding/hex"
	"strings"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/recent"
)

// passedMark is the standing decision of an allow by the level alone.
const passedMark = "p"

// recentAllows remembers the requests that this process has let pass by their level
// alone, so that the same request gets the same answer. It is bounded: what it
// has forgotten is judged again.
type recentAllows struct {
	requests recent.Shared[requestKey, struct{}]
}

const mostAllows = 20_000

// requestKey is one request: where, and the signed bytes, of which its id is one
// part.
type requestKey struct {
	conversation [16]byte
	body         [32]byte
}

func (g *recentAllows) note(k requestKey) {
	g.requests.Put(k, struct{}{}, mostAllows)
}

func (g *recentAllows) has(k requestKey) bool {
	_, known := g.requests.Get(k)
	return known
}

// request names the call's request.
func (t *evaluation) request() requestKey {
	return requestKey{t.convID, t.call.Body}
}

// editedPrefix begins the mark of an allow with changed params: which, is under the seal. A request that comes again gets these, or nothing.
const editedPrefix = "E"

func isEdited(mark string) bool { return strings.HasPrefix(mark, editedPrefix) }

// markOf is the mark of an allow that only this server can have made.
func markOf(key hmac.Key, t *evaluation) string {
	prefix, kind := markKind(t)
	return prefix + key.Seal(kind, markParts(t)...)
}

// isMarkOf reports whether a mark is that of an allow of this very call.
func isMarkOf(key hmac.Key, t *evaluation, mark string) bool {
	prefix, kind := markKind(t)
	seal, ours := strings.CutPrefix(mark, prefix)
	return ours && seal != "" && key.Check(seal, kind, markParts(t)...)
}

func markKind(t *evaluation) (prefix, kind string) {
	if t.wasEdited() {
		return editedPrefix, "allow-edited"
	}
	return "A", "allow"
}

func markParts(t *evaluation) []string {
	parts := []string{t.conv.Client, t.conv.Key, t.call.RequestID, hex.EncodeToString(t.call.Body[:])}
	if t.wasEdited() {
		parts = append(parts, t.callDigest())
	}
	return parts
}
