package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/mcp"
)

// MCPToolsCmd shows what servers say of their tools, and accepts changes.
type MCPToolsCmd struct {
	gatewayFlags
	Accept string `placeholder:"SERVER/TOOL:VERSION" help:"Accept a change that you have seen."`
	All    bool   `help:"Show each tool with all that its server says of it."`
}

// definitions are those that the gates on this machine keep.
func (f *gatewayFlags) definitions() (mcp.Definitions, error) {
	h := f.hook()
	h.FromEnv(os.Getenv)
	dir, err := h.NotesDir(os.Getenv)
	return mcp.Definitions{Dir: filepath.Join(dir, "tools")}, err
}

// Run lists the tools, changes first.
func (c *MCPToolsCmd) Run(a *app) error {
	kept, err := c.definitions()
	if err != nil {
		return err
	}
	all, err := kept.List(hook.ToolNames())
	if err != nil {
		return &failure{text: "what servers said of their tools can't be read: " + err.Error(), hint: "look at " + kept.Dir}
	}
	if c.Accept != "" {
		return c.accept(a, kept, all)
	}
	if len(all) == 0 {
		a.printf("No server has offered a tool yet. Gates look at %s.\n", kept.Dir)
	}
	for i := range all {
		c.show(a, &all[i])
	}
	return nil
}

func (c *MCPToolsCmd) accept(a *app, kept mcp.Definitions, all []mcp.Definition) error {
	for i := range all {
		d := &all[i]
		if d.Change == "" || c.Accept != name(d)+":"+d.Version() {
			continue
		}
		if err := kept.Accept(d); errors.Is(err, mcp.ErrChangedAgain) {
			break
		} else if err != nil {
			return err
		}
		a.printf("Accepted: %s can be called again.\n", name(d))
		return nil
	}
	return &failure{text: "there is no such change, or it is no longer what was shown", hint: "`verifier mcp tools` shows what there is"}
}

// name is a tool's, so that nothing in it can pass for something else.
func name(d *mcp.Definition) string {
	q := strconv.QuoteToASCII(d.Tool)
	return d.Server + "/" + q[1:len(q)-1]
}

func (c *MCPToolsCmd) show(a *app, d *mcp.Definition) {
	a.printf("%s", name(d))
	if d.Change != "" {
		a.printf("  CHANGED")
	}
	if len(d.Shadows) > 0 {
		a.printf("  (the same name: %s)", strings.Join(d.Shadows, ", "))
	}
	a.printf("\n")
	switch old := pretty(d.Text); {
	case d.Change != "":
		for line := range strings.SplitSeq(channels.Difference(strings.Join(old, "\n"), strings.Join(pretty(d.Change), "\n")), "\n") {
			if !strings.HasPrefix(line, "  ") {
				a.printf("  %s\n", line)
			}
		}
		a.printf("  To accept it: verifier mcp tools --accept '%s:%s'\n", name(d), d.Version())
	case c.All:
		for _, line := range old {
			a.printf("    %s\n", line)
		}
	}
}

// pretty are the lines of a definition. What could hide or move something on a terminal is shown by its number.
func pretty(text string) []string {
	v := jsontext.Value(text)
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return []string{strconv.QuoteToASCII(text)}
	}
	lines := strings.Split(string(v), "\n")
	for i, line := range lines {
		quoted := strconv.QuoteToGraphic(line)
		lines[i] = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
	}
	return lines
}
