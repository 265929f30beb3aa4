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
	r := pl.rule
	switch {
	case len(p.owned) == 0:
		return
	case pl.mayAct():
		pl.OwnData.Taint = p.writesOwn(&r.facts, c.Tool)
	case r.owned && !pl.strict && isOwners(c, &pl.Initiator):
		pl.OwnData.Reads = r.serviceOf(c.Tool)
	}
	pl.OwnData.May = p.quiet.Own && !pl.strict && r.labelled && pl.sink && !pl.Shell && pl.Writes != WritesShown && pl.Reach.empty() && pl.Grantable &&
		c.Context.SenderIsOwner && isOwners(c, &pl.Initiator) && !c.Hints.Destroys() && pl.Secret == "" && pl.Gives == "" && saysOnlyValues(c.Params, slices.Concat(r.goes, r.content))
}

// writesOwn are the services to which a tool that acts may write: the one that its label names and those of its server, and all of them where no
// label names one. Any server can have any name, and a tool such as http_request can write anywhere, whatever a proposed label says of it.
func (p *Policy) writesOwn(f *facts, tool string) (services []string) {
	server, _ := serverOf(tool)
	for _, name := range p.OwnServices() {
		if f.service == "" || strings.EqualFold(f.service, name) || server != "" && slices.Contains(p.owned[name], server) {
			services = append(services, name)
		}
	}
	return services
}

// OwnServices are the services whose data only the owner writes.
func (p *Policy) OwnServices() []string { return slices.Sorted(maps.Keys(p.owned)) }

// MayWriteOwn are those of them to which a tool may write, whatever its arguments are.
func (p *Policy) MayWriteOwn(agent, tool string) []string {
	r := p.rulesFor(agent).find(tool)
	if len(p.owned) == 0 || !r.sink && !r.runs && (r.labelled || r.safe || r.wrapper) {
		return nil
	}
	return p.writesOwn(&r.facts, tool)
}

// mayAct reports whether the call acts, or may.
func (pl *Plan) mayAct() bool {
	return pl.sink || pl.Anything || pl.Writes != WritesNothing || !pl.Reach.empty()
}

// IsOwn reports whether a tool is labelled as one that returns what only the owner writes, for an agent.
func (p *Policy) IsOwn(agent, tool string) bool { return p.rulesFor(agent).find(tool).owned }

// saysOnlyValues reports whether the params are texts and numbers, or lists of these, under names that the label has.
func saysOnlyValues(params jsontext.Value, names []string) bool {
	var members map[string]any
	if json.Unmarshal(params, &members) != nil || len(members) == 0 {
		return false
	}
	for name, value := range members {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		if len(list) == 0 || !slices.Contains(names, name) || slices.ContainsFunc(list, func(v any) bool { return !isValue(v) }) {
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

// checkOwn finds labels that contradict each other, and notes the service and its server.
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
	server, _ := serverOf(f.name)
	b.owned[service] = append(b.owned[service], server)
}
