package mcp

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// ChangedTool is the name under which the gateway asks the owner about a tool that a server has changed. It is on the dangerous list: a person is
// asked at every level.
const ChangedTool = "mcp_tool_changed"

// changeWait is how long one question waits for the owner. Where the yes comes later, the next list of tools finds it.
const changeWait = 580 * time.Second

// putChanges puts what this server has changed to the owner, one after the other, beside everything else. A card shows the difference. A
// person's yes to it is what `verifier mcp tools --accept` is. It puts no more than one question at a time, whatever the server changes meanwhile.
func (g *gate) putChanges(ctx context.Context) {
	g.mu.Lock()
	busy := g.putting
	g.putting = true
	g.mu.Unlock()
	if busy {
		return
	}
	go func() {
		defer func() {
			g.mu.Lock()
			g.putting = false
			g.mu.Unlock()
		}()
		put, more := map[string]bool{}, true
		for more {
			more = g.putChange(context.WithoutCancel(ctx), put)
		}
	}()
}

// putChange puts the first change of this server to the owner that was not put before. It reports whether there may be more.
func (g *gate) putChange(ctx context.Context, put map[string]bool) bool {
	all, err := g.Definitions.List(nil)
	if err != nil {
		return false
	}
	for i := range all {
		d := &all[i]
		if d.Change == "" || put[d.Tool+d.Version()] || !strings.EqualFold(d.Server, g.Server) {
			continue
		}
		put[d.Tool+d.Version()] = true
		params, err := json.Marshal(map[string]string{"server": d.Server, "tool": d.Tool, "old_string": indented(d.Text), "new_string": indented(d.Change)}, json.Deterministic(true))
		if err != nil { // it holds text that no card can show
			continue
		}
		s, err := g.session()
		if err != nil {
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, changeWait+margin)
		v, err := s.Ask(ctx, hook.Call{Tool: ChangedTool, Params: params, Wait: changeWait})
		cancel()
		if err == nil && v.Allowed && v.ByPerson && g.Definitions.Accept(d) == nil {
			g.accepted(d.Tool)
		}
		return err == nil && len(put) < mostDefinitions
	}
	return false
}

// listChanged tells a client to ask for the list of tools again.
const listChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// accepted says that the owner has accepted a change.
func (g *gate) accepted(tool string) {
	if tool == Instructions {
		g.logf("The owner has accepted the server's instructions. The client gets them when it connects again.")
		return
	}
	g.logf("The owner has accepted the change of the tool %q. It is in the next list of tools.", tool)
	if g.announce != nil {
		g.announce([]byte(listChanged))
	}
}

// indented is a definition, a line for each member.
func indented(text string) string {
	v := jsontext.Value(text)
	if v.Indent(jsontext.WithIndent("  ")) != nil {
		return text
	}
	return string(v)
}
