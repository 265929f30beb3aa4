package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// OwnData is what a call has to do with services whose data only the owner writes: see [Quiet.Own].
type OwnData struct {
	Reads string   // the service whose data it returns; empty: it is no such call
	May   bool     // its form is that of a call that may pass with values that came only from such data
	Taint []string // the services to which it may write: in a conversation with outside content their data is the owner's no more
}

// ownData says so where a label names such a service, also while the reason is switched off: what is written meanwhile counts.
func (p *Policy) ownData(pl *Plan, c *toolcall.Call) {
	if len(p.owned) == 0 {
		return
	}
	acts, service := pl.mayAct(), pl.rule.serviceOf(c.Tool)
	switch {
	case acts && service == "":
		pl.OwnData.Taint = p.owned
	case acts && slices.Contains(p.owned, service):
		pl.OwnData.Taint = []string{service}
	case !acts && pl.rule.owned && !pl.strict && isOwners(c, &pl.Standing):
		pl.OwnData.Reads = service
	}
	pl.OwnData.May = p.quiet.Own && !pl.strict && pl.sink && !pl.Shell && pl.Writes != WritesShown && pl.Grantable && isOwners(c, &pl.Standing) &&
		!c.Hints.Destroys() && pl.Secret == "" && pl.Gives == "" && saysOnlyValues(c.Params)
}

// mayAct reports whether the call acts, or may.
func (pl *Plan) mayAct() bool {
	return pl.sink || pl.Anything || pl.Writes != WritesNothing || !pl.Reach.empty()
}

// IsOwn reports whether a tool is labelled as one that returns what only the owner writes, for an agent.
func (p *Policy) IsOwn(agent, tool string) bool { return p.rulesFor(agent).find(tool).owned }

// saysOnlyValues reports whether the params are texts and numbers under plain names, or lists of these.
func saysOnlyValues(params jsontext.Value) bool {
	var members map[string]any
	if json.Unmarshal(params, &members) != nil || len(members) == 0 {
		return false
	}
	for name, value := range members {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		if len(name) > longestName || strings.Trim(name, plainName) != "" || slices.ContainsFunc(list, func(v any) bool { return !isValue(v) }) {
			return false
		}
	}
	return true
}

func isValue(v any) bool {
	switch v.(type) {
	case string, float64:
		return true
	}
	return false
}

const (
	longestName = 40
	plainName   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)

// checkOwn finds labels that contradict each other, and notes the service.
func (b *builder) checkOwn(path string, f *facts) {
	if !f.owned {
		return
	}
	service := f.serviceOf(f.name)
	switch {
	case f.sink || f.runs || f.wrapper || f.dangerous || f.destructive || f.money || f.secret || f.plainFetch || f.opens || f.looks:
		b.fail(path+".own", "only a tool with sink: false that reads data of yours may be labelled so, and none that bears secrets, runs or fetches something")
	case service == "":
		b.fail(path+".own", "it takes a service, so that we know which other tools write there")
	}
	b.owned[service] = true
}

// ownServices are those with a label.
func (b *builder) ownServices() []string { return slices.Sorted(maps.Keys(b.owned)) }
