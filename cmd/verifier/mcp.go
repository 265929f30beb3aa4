package main

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/mcp"
)

// MCPCmd is the gate before servers of tools that speak the Model Context Protocol.
type MCPCmd struct {
	Run   MCPRunCmd   `cmd:"" default:"withargs" help:"Pass on what a client and a server say, and ask before each call."`
	Tools MCPToolsCmd `cmd:"" help:"Show what servers say of their tools, and accept changes."`
}

// gatewayFlags say where the gateway is, for programs that a client starts.
type gatewayFlags struct {
	Config     string `short:"c" placeholder:"FILE" help:"The gateway's config."`
	State      string `placeholder:"DIR" help:"The gateway's state directory."`
	Gateway    string `placeholder:"URL" help:"Where the gateway is, if it is on another machine."`
	SecretFile string `placeholder:"FILE" help:"The file that holds what calls are signed with."`
	CA         string `name:"ca" placeholder:"FILE" help:"The certificate of the authority that signed the gateway's, a PEM file."`
	Notes      string `placeholder:"DIR" help:"Where hooks and gates keep notes for each other. Without it: in the state directory."`
}

// MCPRunCmd starts a server and runs the gate before it.
type MCPRunCmd struct {
	gatewayFlags
	URL     string        `name:"url" placeholder:"URL" help:"The address of a server that speaks streamable HTTP, in place of a command."`
	Header  []string      `placeholder:"'NAME: VALUE'" sep:"none" help:"With --url: a header of each request. $${NAME} is the value of a variable. May be given several times."`
	Name    string        `placeholder:"NAME" help:"What you call the server. Its tools are judged as mcp__NAME__tool. Without it: by the command or the address."`
	Wait    time.Duration `placeholder:"TIME" help:"How long the client waits for the answer to a call. Without it: as long as clients of its name do, else 60s, or 10m where it gets messages about progress."`
	Command []string      `arg:"" optional:"" passthrough:"" help:"The server's command, after --."`
}

// Run passes messages on until the client or the server ends.
func (c *MCPRunCmd) Run(a *app) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	kept, err := c.definitions()
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a client that has gone is no reason to end without ending the server
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGHUP)
	defer stop()
	o := mcp.Options{
		Server:      server.Name,
		Definitions: kept,
		Open:        func() (mcp.Session, error) { return c.open(a) },
		Wait:        c.Wait,
	}
	code, err := mcp.Stdio(ctx, o, mcp.Streams{In: os.Stdin, Out: a.stdout, Err: a.stderr}, server)
	switch {
	case err != nil:
		return &failure{text: err.Error(), hint: "try the command by itself"}
	case code != exitOK:
		return exit(code)
	}
	return nil
}

// server is the one that the flags name, by its command or its address.
func (c *MCPRunCmd) server() (*mcp.Server, error) {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	s := &mcp.Server{Name: c.Name, Command: command}
	switch {
	case (len(command) == 0) == (c.URL == ""):
		return nil, &failure{
			text: "it takes the command of a server, or its address",
			hint: "write a command after --, as in verifier mcp -- npx -y @modelcontextprotocol/server-everything, or name --url",
		}
	case c.URL == "" && len(c.Header) > 0:
		return nil, &failure{text: "--header is for --url", hint: "a command gets no headers"}
	}
	if c.URL != "" {
		u, err := serverURL(c.URL)
		if err != nil {
			return nil, err
		}
		s.URL = u
		s.Name = cmp.Or(s.Name, mcp.NameOfURL(u))
		s.Header = http.Header{}
		for _, line := range c.Header {
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return nil, &failure{text: "a header has no colon", hint: "write it as 'Authorization: Bearer ${TOKEN}'"}
			}
			s.Header.Set(strings.TrimSpace(name), mcp.Expand(strings.TrimSpace(value)))
		}
	}
	if s.Name == "" {
		s.Name = mcp.NameOf(command)
	}
	if err := mcp.CheckName(s.Name); err != nil {
		return nil, &failure{text: err.Error(), hint: "name it with --name"}
	}
	return s, nil
}

func (f *gatewayFlags) hook() *HookCmd {
	return &HookCmd{Flags: hook.Flags{Config: f.Config, State: f.State, URL: f.Gateway, SecretFile: f.SecretFile, CA: f.CA, Notes: f.Notes}}
}

// open finds the gateway and the conversation.
func (f *gatewayFlags) open(a *app) (*hook.Session, error) {
	h := f.hook()
	h.FromEnv(os.Getenv)
	g, err := h.gateway(a)
	if err != nil {
		return nil, err
	}
	dir, err := h.NotesDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	return hook.OpenSession(g, dir)
}

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

// serverURL is the address of a server.
func serverURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil {
		err = mcp.CheckURL(u)
	}
	if err != nil {
		return nil, &failure{text: "the address of the server can't be used: " + err.Error(), hint: "write it as https://mcp.example.com/mcp"}
	}
	return u, nil
}
