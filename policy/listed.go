package policy

import (
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// A client of MCP reads resources and gets prompts, too. The gate asks about that as about calls of tools, by the names of the requests:
// mcp__files__resources/read. Of those nothing is known, as of most tools: the address may say what the agent has read elsewhere. Where all that
// the request says is the address or name of something that the server itself has listed, the gate says so by another name, and the server
// learns nothing but that.

// listedEnd ends the names of requests for what the server has listed. No tool has one: the gate refuses it.
const listedEnd = "_listed"

// listable are the requests of which the gate says it.
var listable = map[string]bool{"resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true, "prompts/get": true}

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
	name := server + allListed
	b.tools[name] = &facts{name, response, safe, "asks for what the server itself has listed"}
	b.known[name] = true
}

// listedFacts are those of a request for what the server has listed, where the owner says nothing of it.
func (b *builder) listedFacts(name string) facts {
	server, _ := serverOf(name)
	if f := b.tools[server+allListed]; f != nil {
		return *f
	}
	return *b.tools[anyServer+allListed]
}

// findListed is the rule for a request for what the server has listed: the owner's for all such requests, or else the one for what servers list.
func (s *ruleset) findListed(request string) *rule {
	server, _ := serverOf(request)
	for _, name := range []string{request, server + allListed} {
		if r := s.rules[name]; r != nil {
			return r
		}
	}
	return s.rules[anyServer+allListed]
}
