package lineage

import (
	"cmp"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// From says where an argument of a call came from. docs/spec/lineage.md is the specification of the words.
type From string

// What can be said of an argument.
const (
	FromUser    From = "user"    // all of it was said by the user
	FromPart    From = "partly"  // some of it was said by the user, and nothing of it came from a tool
	FromTool    From = "tool"    // something in it came from a tool, and the user did not say it
	FromNowhere From = "nowhere" // something in it was seen nowhere
	FromNothing From = "nothing" // nothing in it can be compared: it is short, or no text
)

// Origin is where one argument came from. It is evidence: a page can spell an
// address so that nothing matches, so only FromUser says something good of it.
type Origin struct {
	From  From        `json:"from"`
	Level taint.Level `json:"level"`          // Owner for FromUser, the source's for FromTool, else Untrusted
	Tool  string      `json:"tool,omitzero"`  // of FromTool: which
	Place string      `json:"place,omitzero"` // of FromTool: where the tool had it from, a host or a file

	Secret bool `json:"secret,omitzero"` // of FromTool: it stood in what a call returned that read secrets
}

// Origins are those of a call's arguments: of each text and number among the
// params, by its path ("to", "edits[0].newText"). They are nil where the caller has not
// looked, and what was not looked at is not in them: read them by [Origins.At].
type Origins map[string]Origin

// At is the origin of the argument at a path. One that is not known was seen
// nowhere.
func (o Origins) At(path string) Origin {
	if found, ok := o[path]; ok {
		return found
	}
	return Origin{From: FromNowhere, Level: taint.Untrusted}
}

// badness orders what can be said of an argument.
var badness = map[From]int{FromUser: 0, FromPart: 1, FromNothing: 2, FromNowhere: 3, FromTool: 4}

// Compare puts what is worse first.
func (o Origin) Compare(other Origin) int {
	return cmp.Or(badness[other.From]-badness[o.From], worth(other.Secret, other.Level)-worth(o.Secret, o.Level))
}

// worth puts what holds secrets behind all levels.
func worth(secret bool, level taint.Level) int {
	if secret {
		return taint.Levels + int(level)
	}
	return int(level)
}

// String says it in words: "came from web_fetch example.com
// (untrusted)". The names in it are foreign text.
func (o Origin) String() string {
	switch o.From {
	case FromUser:
		return "you wrote it"
	case FromPart:
		return "you wrote part of it"
	case FromTool:
		return "came from " + strings.TrimSpace(o.Tool+" "+o.Place) + " (" + o.Level.String() + ")"
	case FromNothing:
		return "too short to compare"
	case FromNowhere:
	}
	return "not in your messages, nor in anything the agent read"
}
