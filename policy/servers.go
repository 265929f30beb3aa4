package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
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

// serverPrefix begins the names of tools of servers, mcp__server__tool, and of other requests to them, which are judged
// as tools that we don't know: mcp__server__resources/read.
const serverPrefix = "mcp__"

// serverOf is the name under which a server's tools are known as a whole, where a tool is one of a server's.
func serverOf(tool string) (string, bool) {
	rest, ok := strings.CutPrefix(tool, serverPrefix)
	server, _, found := strings.Cut(rest, "__")
	return serverPrefix + server + "__", ok && found && server != ""
}

// ofServer is the row that holds for a tool of a server's that has none of its own; nil where there is none.
func ofServer[T any](from map[string]*T, tool string) *T {
	if server, served := serverOf(tool); served {
		return from[server]
	}
	return nil
}

// readServers lays what the owner says of servers over the shipped table. Of the tools of others only this counts: what
// they return, and that it can't be undone.
func (b *builder) readServers() {
	for _, key := range slices.Sorted(maps.Keys(b.config.MCP.Servers)) {
		path, said, all := "mcp.servers."+key, b.config.MCP.Servers[key], serverPrefix+strings.ToLower(key)+"__"
		server, ok := serverOf(all)
		switch {
		case !ok || server != all || strings.TrimSpace(key) != key:
			b.fail(path, "is no name of a server: use the one in the middle of mcp__server__tool")
			continue
		case b.tools[all] != nil:
			b.fail(path, "is there twice")
			continue
		case said.Trust == nil && !said.Annotations:
			b.fail(path, "says nothing: give it a trust or annotations: true")
			continue
		}
		own := map[string]facts{all: unknownTool}
		for name, known := range shipped {
			if of, _ := serverOf(name); of == all {
				own[name] = *known
			}
		}
		for name, f := range own {
			f.name, f.annotated = name, said.Annotations
			if said.Trust != nil {
				f.response, f.known = *said.Trust, true
			}
			b.tools[name] = &f
		}
	}
}

// believing is the rule for a call of a tool whose server says that it only reads, where the owner trusts the server in
// that.
func (r *rule) believing(h *protocol.Hints) *rule {
	if r.reading != nil && h.ReadOnly != nil && *h.ReadOnly {
		return r.reading
	}
	return r
}
