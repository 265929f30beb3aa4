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
	destroys, secret := key == "d" || model.Destroys || model.Pays, key == "s" || model.Secret
	if key == "r" && !model.Acts && !destroys && !secret {
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

// Opinion is what a model thinks of a tool, in words.
func Opinion(o auditor.ToolOpinion) string {
	var says []string
	for _, one := range []struct {
		is   bool
		text string
	}{
		{o.Acts, "it acts"}, {o.Destroys, "it destroys"}, {o.Pays, "it pays"}, {o.Secret, "it shows secrets"},
		{o.Looks, "it only reads"},
	} {
		if one.is {
			says = append(says, one.text)
		}
	}
	return strings.Join(says, ", ")
}

// Question is what a model is asked about a tool.
func (t *Tool) Question() auditor.ToolQuestion {
	q := auditor.ToolQuestion{Name: redact.Line(t.Name), Description: redact.Line(t.Description)}
	for _, name := range t.Arguments {
		q.Arguments = append(q.Arguments, redact.Line(name))
	}
	return q
}
