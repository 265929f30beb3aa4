package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// MCP is the part of the policy about servers of tools that speak the Model Context Protocol.
type MCP struct {
	// Servers are those that the owner says something of, by the names that the owner calls them.
	Servers map[string]Server `yaml:"servers"`
}

// Server is what the owner says of a server of tools.
type Server struct {
	// Trust is the level of what all its tools return, and its resources and prompts. Nil: as the shipped table has it,
	// else untrusted. trust.tools says it for one tool.
	Trust *taint.Level `yaml:"trust"`
	// Annotations says that the server is believed where it says that a tool only reads.
	Annotations bool `yaml:"annotations"`
}

// serverPrefix begins the names of tools of servers: mcp__server__tool.
const serverPrefix = "mcp__"

// serverOf is the name under which a server's tools are known as a whole, where a tool is one of a server's.
func serverOf(tool string) (string, bool) {
	rest, ok := strings.CutPrefix(tool, serverPrefix)
	server, _, found := strings.Cut(rest, "__")
	return serverPrefix + server + "__", ok && found && server != ""
}

// byNameOnly is what holds of a tool whose server the owner's config does not name, since a file in a repository may
// call a server on the web "time": what it returns, and that it can't be undone. In all else nothing is known of it.
func byNameOnly(f facts) facts {
	destructive := f.destructive
	f.traits = unknownTool.traits
	f.destructive = destructive
	return f
}

// readServers lays what the owner says of servers over the shipped table.
func (b *builder) readServers() {
	for _, key := range slices.Sorted(maps.Keys(b.config.MCP.Servers)) {
		path, said, name := "mcp.servers."+key, b.config.MCP.Servers[key], strings.ToLower(key)
		all, ok := serverOf(serverPrefix + name + "__")
		switch {
		case !ok || all != serverPrefix+name+"__" || strings.TrimSpace(name) != name || strings.Contains(name, "__"):
			b.fail(path, "is no name of a server: use the one in the middle of mcp__server__tool")
			continue
		case b.tools[all] != nil:
			b.fail(path, "is there twice")
			continue
		case said.Trust == nil && !said.Annotations:
			b.fail(path, "says nothing: give it a trust or annotations: true")
			continue
		}
		f := unknownTool
		f.name, f.annotated = all, said.Annotations
		if said.Trust != nil {
			f.response, f.reason = *said.Trust, "you trust what its server returns as far as "+said.Trust.String()
		}
		b.tools[all], b.known[all] = &f, said.Trust != nil
		b.addListed(all, f.response)
		for name, known := range shipped {
			if of, _ := serverOf(name); of == all {
				own := *known
				own.annotated = said.Annotations
				if said.Trust != nil {
					own.response = *said.Trust
				}
				b.tools[name] = &own
			}
		}
	}
}

// unknownFacts are those of a tool that is in no table. What the owner says of its server counts.
func (b *builder) unknownFacts(name string) *facts {
	f := unknownTool
	if request, listed := cutListed(name); listed {
		f = *firstOf(b.tools, listedNames(request)[1:])
	} else if server, ok := serverOf(name); ok && b.tools[server] != nil {
		f.response, f.annotated = b.tools[server].response, b.tools[server].annotated
	}
	f.name = name
	return &f
}

// believing is the rule for a call of a tool whose server says that it only reads, where the owner trusts the server in
// that.
func (r *rule) believing(h *toolcall.Hints) *rule {
	if r.reading != nil && h.ReadOnly != nil && *h.ReadOnly {
		return r.reading
	}
	return r
}

// A client of MCP also reads resources and gets prompts. The gate asks about that by the names of the requests:
// mcp__files__resources/read. Of those nothing is known: the address may say what the agent has read elsewhere. Where
// all that the request says is the address or name of something that the server itself has listed, the gate adds
// _listed: the server learns nothing but that. No tool has such a name: the gate refuses it.
const listedEnd = "_listed"

// listable are the requests of which the gate says it.
var listable = setOfWords("resources/read resources/subscribe resources/unsubscribe prompts/get")

// allListed, after the prefix of a server or of none, is what such requests count as of which the owner says nothing.
const (
	allListed = "(listed)__"
	anyServer = serverPrefix + "__"
)

// cutListed is the name of the request without the end which says that the server has listed what it is about.
func cutListed(tool string) (request string, ok bool) {
	request, ok = strings.CutSuffix(tool, listedEnd)
	server, served := serverOf(request)
	return request, ok && served && listable[strings.TrimPrefix(request, server)]
}

// addListed notes what requests for what a server has listed bring in.
func (b *builder) addListed(server string, response taint.Level) {
	name, reason := server+allListed, "asks for what the server itself has listed"
	b.tools[name], b.known[name] = &facts{
		name:     name,
		response: response,
		traits:   traits{safe: true},
		reason:   reason,
	}, true
}

// listedNames are what a request for what a server has listed counts as, the first that there is: what the owner says
// of all such requests, or else what holds for all that servers list.
func listedNames(request string) []string {
	server, _ := serverOf(request)
	return []string{request, server + allListed, anyServer + allListed}
}

func firstOf[T any](from map[string]*T, names []string) *T {
	for _, name := range names {
		if from[name] != nil {
			return from[name]
		}
	}
	return nil
}
