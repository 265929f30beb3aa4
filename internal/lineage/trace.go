package lineage

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// MaxArguments is how many texts and numbers of a call are looked at.
const MaxArguments = 256

// Source is where something was seen: a message of the user, or what a tool returned.
type Source struct {
	User   bool        `json:"user,omitzero"`
	Tool   string      `json:"tool,omitzero"`
	Origin string      `json:"origin,omitzero"` // where the tool had it from, for people: a host or a file
	Level  taint.Level `json:"level"`
	Secret bool        `json:"secret,omitzero"` // it came from a place where secrets are kept, or holds one
}

// compare puts what holds secrets last, then the less trusted source.
func (s Source) compare(other Source) int {
	return worth(s.Secret, s.Level) - worth(other.Secret, other.Level)
}

// Seen is what is kept of one message or result.
type Seen struct {
	Source
	Fingerprints Fingerprints `json:"fingerprints"`
}

// Index finds fingerprints. Make it once for what a conversation has seen.
type Index struct {
	keys []Key
	user map[fingerprint]bool
	tool map[fingerprint]Source
}

// NewIndex makes an index of what was seen, oldest first. Keys are those of the client: more than one while its secret
// is being replaced.
func NewIndex(seen []Seen, keys ...Key) *Index {
	x := &Index{keys, map[fingerprint]bool{}, map[fingerprint]Source{}}
	for _, s := range seen {
		for f := s.Fingerprints; len(f) >= printSize; f = f[printSize:] {
			one := fingerprint(f[:printSize])
			if s.User {
				x.user[one] = true
			} else if old, ok := x.tool[one]; !ok || s.compare(old) >= 0 {
				x.tool[one] = s.Source
			}
		}
	}
	return x
}

// Trace says of each text and number of a call where it came from, and whether it
// looked at all of them. Of two that have the same path, as in {"a.b": …} and
// {"a": {"b": …}}, it says the worse.
func (x *Index) Trace(params protocol.Values) (out Origins, all bool) {
	out, all = Origins{}, true
	left, arguments := MaxChars, 0 // no call takes longer
	for i := range params {
		v := &params[i]
		if v.Kind != jsontext.KindString && v.Kind != jsontext.KindNumber {
			continue
		}
		if arguments++; arguments > MaxArguments {
			all = false
			break
		}
		text, chars, cut := fold(v.Text, left)
		left, all = left-chars, all && !cut
		o := x.origin(text)
		if cut && o.From == FromNothing {
			o.From = FromNowhere
		}
		path := params.Path(i)
		if old, ok := out[path]; !ok || o.Compare(old) < 0 {
			out[path] = o
		}
	}
	for path, o := range out {
		if !all && o.From == FromUser { // what was not looked at may have the same path
			out[path] = Origin{From: FromPart, Level: taint.Untrusted}
		}
	}
	return out, all
}

// origin says where a folded text came from. One token from a tool is enough. It is
// the user's where it consists of tokens that the user wrote, and partly the user's
// where there is something else besides.
func (x *Index) origin(folded string) Origin {
	var from Source // the worst tool
	said, nowhere, besides, returned := false, false, strings.ContainsRune(folded, other), false
	for chunk := range chunks(folded) {
		if !isToken(chunk) {
			besides = besides || chunk != "http" && chunk != "https" // as a link begins
			continue
		}
		switch source, found := x.find(chunk); {
		case !found:
			nowhere = true
		case source.User:
			said = true
		case !returned || source.compare(from) > 0:
			from, returned = source, true
		}
	}
	switch {
	case returned:
		return Origin{
			From: FromTool, Level: from.Level, Tool: from.Tool, Place: from.Origin, Secret: from.Secret,
		}
	case nowhere:
		return Origin{From: FromNowhere, Level: taint.Untrusted}
	case said && !besides:
		return Origin{From: FromUser, Level: taint.Owner}
	case said:
		return Origin{From: FromPart, Level: taint.Untrusted}
	}
	return Origin{From: FromNothing, Level: taint.Untrusted}
}

// find says where a token was seen, the user's messages first. Where it was not, its
// parts may come from a tool: the host of a link, or what was put into one.
func (x *Index) find(token string) (source Source, found bool) {
	for _, k := range x.keys {
		if x.user[k.of(token)] {
			return Source{User: true}, true
		}
	}
	source, found = x.returned(token)
	for _, between := range []string{"/@", "/@."} {
		if found || !strings.ContainsAny(token, between) {
			continue
		}
		for part := range strings.FieldsFuncSeq(token, func(c rune) bool { return strings.ContainsRune(between, c) }) {
			if part = strings.Trim(part, marks); !isToken(part) {
				continue
			}
			if s, ok := x.returned(part); ok && (!found || s.compare(source) > 0) {
				source, found = s, true
			}
		}
	}
	return source, found
}

func (x *Index) returned(token string) (source Source, found bool) {
	for _, k := range x.keys {
		if s, ok := x.tool[k.of(token)]; ok && (!found || s.compare(source) > 0) {
			source, found = s, true
		}
	}
	return source, found
}
