package main

import (
	"cmp"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

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
	listenFlags
	URL     string        `name:"url" placeholder:"URL" help:"The address of a server that speaks streamable HTTP, in place of a command."`
	Header  []string      `placeholder:"'NAME: VALUE'" sep:"none" help:"With --url and without --listen: a header of each request. $${NAME} is the value of a variable. May be given several times."`
	Name    string        `placeholder:"NAME" help:"What you call the server. Its tools are judged as mcp__NAME__tool. Without it: by the command or the address."`
	Wait    time.Duration `placeholder:"TIME" help:"How long the client waits for the answer to a call. Without it: as long as clients of its name do, else 60s, or 10m where it gets messages about progress."`
	Command []string      `arg:"" optional:"" passthrough:"" help:"The server's command, after --."`

	several bool
}

// Run passes messages on until the client or the server ends.
func (c *MCPRunCmd) Run(a *app) error {
	servers, err := c.servers()
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
	o := mcp.Options{Server: servers[0].Name, Definitions: kept, Open: func() (mcp.Session, error) { return c.open(a) }, Wait: c.Wait, Log: a.stderr}
	streams := mcp.Streams{In: os.Stdin, Out: a.stdout, Err: a.stderr}
	one, code := &servers[0], exitOK
	switch {
	case c.several && c.Listen != "":
		end := func() {}
		defer func() { end() }()
		return c.serve(ctx, a, mcp.ManyPath, func(by mcp.Reached) (h http.Handler) {
			h, end = mcp.ManyHTTP(ctx, o, servers, by)
			return h
		})
	case c.several:
		err = mcp.Many(ctx, o, streams, servers)
	case c.Listen != "":
		return c.serve(ctx, a, cmp.Or(one.URL.Path, "/"), func(by mcp.Reached) http.Handler { return mcp.HTTP(o, one.URL, by) })
	default:
		code, err = mcp.Stdio(ctx, o, streams, one)
	}
	switch {
	case err != nil:
		return &failure{text: err.Error(), hint: "try the command by itself"}
	case code != exitOK:
		return exit(code)
	}
	return nil
}

// servers are those that the flags name: one by its command or its address, or those of a config.
func (c *MCPRunCmd) servers() ([]mcp.Server, error) {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 && c.URL == "" && c.Config != "" {
		return c.configured()
	}
	s := mcp.Server{Name: c.Name, Command: command}
	switch {
	case (len(command) == 0) == (c.URL == ""):
		return nil, &failure{text: "it takes the command of a server, its address, or a config with servers", hint: "write a command after --, as in verifier mcp -- npx -y @modelcontextprotocol/server-everything, or see verifier mcp --help"}
	case c.URL == "" && c.Listen != "":
		return nil, &failure{text: "--listen is for a server that is reached by an address, or for those of a config", hint: "name it with --url, or write {\"mcpServers\": …} into a file and name that with --config"}
	case c.URL == "" || c.Listen != "":
		if len(c.Header) > 0 {
			return nil, &failure{text: "--header is for --url without --listen", hint: "clients send their own headers"}
		}
	}
	if c.URL != "" {
		u, err := serverURL(c.URL)
		if err != nil {
			return nil, err
		}
		s.URL, s.Command = u, nil
		s.Name = cmp.Or(s.Name, mcp.CleanName(u.Hostname()))
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
	return []mcp.Server{s}, nil
}

// configured are the servers of a config. It is then not the gateway's.
func (c *MCPRunCmd) configured() ([]mcp.Server, error) {
	file, err := os.ReadFile(c.Config)
	if err != nil {
		return nil, &failure{text: err.Error(), hint: "name a file with {\"mcpServers\": …}"}
	}
	servers, err := mcp.ReadServers(file)
	if err != nil {
		return nil, &failure{text: c.Config + ": " + err.Error(), hint: "it is JSON: {\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]}}}"}
	}
	c.several, c.Config = true, ""
	return servers, nil
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
