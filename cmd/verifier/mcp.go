package main

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/mcp"
)

// MCPCmd is the gate before servers of tools that speak the Model Context Protocol.
type MCPCmd struct {
	Run   MCPRunCmd   `cmd:"" default:"withargs" help:"Stand between a client and a server."`
	Tools MCPToolsCmd `cmd:"" help:"Show what servers say of their tools, and accept changes."`
}

// gatewayFlags say where the gateway is, for programs that a client starts.
type gatewayFlags struct {
	Config     string `short:"c" placeholder:"FILE" help:"The gateway's config."`
	State      string `placeholder:"DIR" help:"The gateway's state directory."`
	Gateway    string `placeholder:"URL" help:"Where the gateway is, if it is on another machine."`
	SecretFile string `placeholder:"FILE" help:"The file that holds what calls are signed with."`
	CA         string `name:"ca" placeholder:"FILE" help:"The certificate of the authority that signed the gateway's, a PEM file."`
	Notes      string `placeholder:"DIR" help:"Where hooks and gates leave word for each other. Without it: in the state directory."`
}

// MCPRunCmd starts a server and stands before it.
type MCPRunCmd struct {
	gatewayFlags
	listenFlags
	URL     string        `name:"url" placeholder:"URL" help:"The address of a server that speaks streamable HTTP, in place of a command."`
	Name    string        `placeholder:"NAME" help:"What you call the server. Its tools are judged as mcp__NAME__tool. Without it: by the command or the address."`
	Wait    time.Duration `placeholder:"TIME" help:"How long the client waits for the answer to a call. Without it: as long as clients of its name do, else 60s, or 10m where it is told of progress."`
	Command []string      `arg:"" optional:"" passthrough:"" help:"The server's command, after --."`
}

// Help is the long help.
func (*MCPRunCmd) Help() string {
	return `It stands between a client of the Model Context Protocol and a server: in the client's config, put it before the server's command. Every call of a tool is asked about; everything else passes as it is. A call that is not allowed ends in a result that says why.

    $ verifier mcp --name files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
    $ verifier mcp --name crm --url https://mcp.example.com/mcp --listen 127.0.0.1:8790

With --url it stands before a server that is reached by an address: clients take http://127.0.0.1:8790/mcp for it. What a client is authorized with is passed on as it is, and never kept.

The gateway is found as by "verifier hook". Where it can't be reached, calls are refused, and the rest works.`
}

// Run stands there until the client or the server ends.
func (c *MCPRunCmd) Run(a *app) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	switch {
	case (len(command) == 0) == (c.URL == ""):
		return &failure{text: "it takes the command of a server or its address", hint: "write a command after --, as in verifier mcp -- npx -y @modelcontextprotocol/server-everything, or an address with --url"}
	case (c.URL == "") != (c.Listen == ""):
		return &failure{text: "--url and --listen belong together", hint: "add --listen 127.0.0.1:8790, for example"}
	}
	var server *url.URL
	if c.URL != "" {
		u, err := serverURL(c.URL)
		if err != nil {
			return err
		}
		server, command = u, nil
	}
	if c.Name == "" && server != nil {
		c.Name = mcp.CleanName(server.Hostname())
	} else if c.Name == "" {
		c.Name = mcp.NameOf(command)
	}
	if err := mcp.CheckName(c.Name); err != nil {
		return &failure{text: err.Error(), hint: "name it with --name"}
	}
	kept, err := c.definitions()
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a client that has gone is no reason to end without ending the server
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGHUP)
	defer stop()
	o := mcp.Options{Server: c.Name, Definitions: kept, Open: func() (mcp.Session, error) { return c.open(a) }, Wait: c.Wait, Log: a.stderr}
	if server != nil {
		return c.serve(ctx, a, cmp.Or(server.Path, "/"), func(by mcp.Reached) http.Handler { return mcp.HTTP(o, server, by) })
	}
	code, err := mcp.Stdio(ctx, o, mcp.Streams{In: os.Stdin, Out: a.stdout, Err: a.stderr}, command)
	switch {
	case err != nil:
		return &failure{text: err.Error(), hint: "try the command by itself"}
	case code != exitOK:
		return exit(code)
	}
	return nil
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
