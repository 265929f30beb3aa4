package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openclaw-verifier/verifier/redact/redacttest"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/test/long"
)

// secretConfig is a config with a secret wherever one can stand.
const secretConfig = `listen: 127.0.0.1:0
log: {format: %s, level: debug}
ownerToken: cfg-own-51d08fa6c2e94b71b3aa
webhook: {secret: cfg-sgn-0f5c1d7e93ab42868e14, bearer: cfg-brr-7be2690cd15f4a3c8877, hold: 1s}
store: {key: cfg-key-9a6e3c1f08d7425bb2640f5c1d7e93ab}
approval: {maxPromptsPerHour: 1000}
approvers:
  - {name: Ann, token: cfg-ann-c4187be05a2f4d93a6b1, ids: ["token:owner"]}
redact:
  patterns: [{name: staff, regex: 'staff-[0-9]{12}', example: staff-123456789012}]
`

// program is the real one, and all that it has printed.
type program struct {
	t          testing.TB
	dir        string
	out, err   output
	trap       *redacttest.Trap
	background *exec.Cmd
}

// run runs a command of the program to its end.
func (p *program) run(args ...string) string {
	p.t.Helper()
	var out output
	cmd := p.command(&out, args...)
	_ = cmd.Run() // what it ends with is another test's matter
	p.out.say("$ verifier %s\n%s", args[0], out.String())
	return out.String()
}

func (p *program) command(out *output, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "verifier", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "VERIFIER_STATE="+p.dir+"/state")
	cmd.Stdout, cmd.Stderr = out, &p.err
	return cmd
}

func (p *program) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// serve starts it in the background and waits until it listens.
func (p *program) serve(configFile string) (url string) {
	p.t.Helper()
	p.background = p.command(&p.out, "serve", "--config", configFile)
	if err := p.background.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.stop)
	redistest.Eventually(p.t, "it listens", func() bool {
		_, rest, ok := strings.Cut(p.out.String(), "listens on ")
		url, _, _ = strings.Cut(rest, "/verify")
		return ok && strings.Contains(rest, "/verify")
	})
	return url
}

// stop is SIGTERM.
func (p *program) stop() {
	if p.background == nil {
		return
	}
	_ = p.background.Process.Signal(syscall.SIGTERM)
	_ = p.background.Wait()
	p.background = nil
}

// TestH29TheBinaryLeaksNoCanary runs the program as its owner does, with secrets
// in its config, in calls, on the command line and in configs that are broken,
// and scans all that it prints, answers and writes.
func TestH29TheBinaryLeaksNoCanary(t *testing.T) {
	long.Only(t, "all of the binary's output")
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			p := &planter{t: t, secret: "cfg-sgn-0f5c1d7e93ab42868e14", bearer: "cfg-brr-7be2690cd15f4a3c8877", token: "cfg-own-51d08fa6c2e94b71b3aa"}
			b := &program{t: t, dir: t.TempDir(), trap: &p.trap}
			for _, s := range []string{p.secret, p.bearer, p.token, "cfg-key-9a6e3c1f08d7425bb2640f5c1d7e93ab", "cfg-ann-c4187be05a2f4d93a6b1"} {
				p.trap.Plant("the config's "+s[:7], s)
			}
			good := fmt.Sprintf(secretConfig, format)
			file := b.write("verifier.yaml", good)
			p.url = b.serve(file)
			p.plantBriefly()
			cards := p.cards()
			if format == "text" {
				b.commands(p, cards)
			}
			b.brokenConfigs(p, good)
			b.stop()
			leaks := p.scan(map[string]string{
				"standard output": b.out.String(), "standard error": b.err.String(), "record": files(t, b.dir+"/state/record*"), storeFiles: files(t, b.dir+"/state/*.db*"),
				"rest of the state directory": files(t, b.dir+"/state/[^vr]*"),
			})
			for _, l := range leaks {
				t.Error(l)
			}
		})
	}
}

// plantBriefly sends one call of each sort, with every kind in turn.
func (p *planter) plantBriefly() {
	for kind := range redacttest.Canaries() {
		switch kind % 4 {
		case 0:
			p.send(call{tool: "exec", params: `{"command":` + quoted(p.text(kind, 1, "in a command")) + `}`, context: anew(false)})
		case 1:
			p.send(call{tool: "read", params: `{"path":"a","note":` + quoted(p.text(kind, 0, "in a note")) + `}`, context: anew(true)})
		case 2:
			p.send(call{tool: p.text(kind, 0, "in a tool's name", storeFiles), id: p.text(kind, 0, "in a request id", storeFiles), context: anew(false)})
		case 3:
			p.raw([]byte(p.text(kind, 0, "in a broken body")))
		}
	}
	p.trap.Plant("the owner's own pattern", "staff-998877665544")
	p.send(call{tool: "exec", params: `{"command":"mail staff-998877665544"}`, context: anew(false)})
}

// commands runs those that look at what waits and at what was recorded, and
// those that carry a secret themselves.
func (p *program) commands(wire *planter, cards []shown) {
	at := []string{"--url", wire.url, "--config", p.dir + "/verifier.yaml"}
	owner := func(args ...string) { p.run(append(args, at...)...) }
	// What the owner is shown is the owner's screen: codes may stand there.
	before := p.out.String()
	owner("pending")
	owner("reply", ".pending")
	shown := strings.TrimPrefix(p.out.String(), before)
	p.out = output{}
	p.out.say("%s", before)
	for _, l := range p.trap.Scan(map[string]string{ownersScreen: shown}) {
		p.t.Error(l)
	}
	owner("deny", cards[0].Ref, "--reason", wire.text(0, 1, "in a reason on the command line"))
	owner("approve", cards[1].Ref)
	owner("approve", wire.text(8, 0, "in a reference on the command line"))
	owner("reply", ".approve exec "+cards[2].code(p.t))
	for kind := range redacttest.Canaries() {
		if kind%7 == 0 {
			owner("send", "--wait", "0", "--tool", "exec", "--params", `{"command":`+quoted(wire.text(kind, 0, "in the params of send"))+`}`)
			p.run("explain", "--config", p.dir+"/verifier.yaml", "--tool", "exec", "--params", `{"command":`+quoted(wire.text(kind, 0, "in the params of explain"))+`}`)
		}
	}
	p.run("audit", "show", "--config", p.dir+"/verifier.yaml")
	p.run("audit", "verify", "--config", p.dir+"/verifier.yaml")
	p.run("check", "--config", p.dir+"/verifier.yaml")
}

// brokenConfigs puts secrets where they don't belong, and has them reloaded and
// checked.
func (p *program) brokenConfigs(wire *planter, good string) {
	canary := func(place string) string {
		return wire.text(17, 0, place) // told by itself, in one word
	}
	for i, broken := range []string{
		good + canary("as a key") + ": 1\n",
		good + "webhok: {secret: " + canary("under an unknown key") + "}\n",
		strings.Replace(good, "bearer: ", "bearer: [", 1),
		strings.Replace(good, "format: ", "format: "+canary("as a word"), 1),
		strings.Replace(good, "hold: 1s", "hold: "+canary("as a duration"), 1),
		strings.Replace(good, "listen: 127.0.0.1:0", "listen: "+canary("as an address"), 1),
		strings.Replace(good, "name: Ann", "name: ["+canary("as a name"), 1),
		good + "\t" + canary("behind a tab") + "\n",
		good + "ownerToken: " + canary("as a second token") + "\n",
		strings.Replace(good, "store: {", "store: {url: 'http://u:"+canary("in a store's address")+"@h/0', ", 1),
		strings.Replace(good, "cfg-own-51d08fa6c2e94b71b3aa", "${"+strings.ReplaceAll(canary("as a variable"), "-", "_")+"}", 1),
		strings.Replace(good, "cfg-own-51d08fa6c2e94b71b3aa", "file:/"+canary("as a file"), 1),
		strings.Replace(good, "staff-[0-9]{12}", "("+canary("in a pattern"), 1),
		strings.Replace(good, `"token:owner"`, `"telegram:`+canary("as an id")+`"`, 1),
		good + "profile: " + canary("as a profile") + "\n",
		good + "tools: {dangerous: [" + canary("as a tool") + "]}\n",
	} {
		path := p.write(fmt.Sprintf("broken%d.yaml", i), broken)
		p.run("check", "--config", path)
		if i%3 == 0 {
			p.run("serve", "--config", path, "--listen", "127.0.0.1:99999")
		}
		p.write("verifier.yaml", broken)
		before := len(p.err.String())
		_ = p.background.Process.Signal(syscall.SIGHUP)
		redistest.Eventually(p.t, "a reload is logged", func() bool { return strings.Contains(p.err.String()[before:], "reloaded") })
	}
	p.write("verifier.yaml", good)
}
