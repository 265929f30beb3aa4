package label

import (
	"strings"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

// Keys are the keys by which the owner says what a tool does.
const Keys = "r only reads · a acts · d destroys or pays · s shows secrets"

// Label is what the owner says of a tool by a key. What a model thinks of the tool makes it stricter, never milder: the
// server's own words could have made the model say so. An unknown key gives no label.
func Label(t *Tool, key string, model auditor.ToolOpinion) (l policy.Tool, ok bool) {
	if len(key) != 1 || !strings.Contains("rads", key) {
		return l, false
	}
	destroys, secret := key == "d" || model.Has("destroys", "pays"), key == "s" || model.Has("secret")
	if key == "r" && !model.Has("acts") && !destroys && !secret {
		return policy.Tool{Source: new(true), Sink: new(false), Safe: new(true), Leaves: new(true)}, true
	}
	l = policy.Tool{Source: new(true), Sink: new(true), Destinations: t.Arguments}
	if destroys {
		l.Destructive = new(true)
	}
	if secret {
		l.Secret = new(true)
	}
	return l, true
}

// Question is what a model is asked about a tool.
func (t *Tool) Question() auditor.ToolQuestion {
	q := auditor.ToolQuestion{Name: redact.Line(t.Name), Description: redact.Line(t.Description)}
	for _, name := range t.Arguments {
		q.Arguments = append(q.Arguments, redact.Line(name))
	}
	return q
}
