package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// other is a policy server that others wrote, asked the same question: may this
// tool be called at this level. It keeps no state, hides nothing, records
// nothing and checks no signature; beside it one sees what all that costs, and
// what a general engine does.
type other struct {
	files   map[string]string                         // what it reads, by name in its directory
	args    func(dir, address string) []string        // how it is started
	request func(call []byte) (path string, _ []byte) // a call of ours as its question
	yes     string                                    // what its allow holds
}

var others = map[string]other{
	"opa": {
		files: map[string]string{"policy.rego": regoPolicy},
		args: func(dir, address string) []string {
			return []string{"run", "--server", "--addr", address, "--log-level", "error", "--skip-version-check", filepath.Join(dir, "policy.rego")}
		},
		request: func(call []byte) (string, []byte) {
			return "/v1/data/verifier/decision", fmt.Appendf(nil, `{"input":{"level":"owner","call":%s}}`, call)
		},
		yes: `"result":"allow"`,
	},
}

// The tables that both go by: three classes of tools at two kinds of level.
const (
	regoPolicy = `package verifier

default decision := "deny"

tainted := {"shared", "external", "untrusted"}
sinks := {"message", "gateway", "cron", "nodes", "write", "edit", "apply_patch", "exec", "process"}
safe := {"read", "session_status", "memory_get", "memory_search"}

decision := "allow" if input.call.tool.name in safe
decision := "allow" if {
	not input.level in tainted
	input.call.tool.name in sinks
}
decision := "confirm" if {
	input.level in tainted
	input.call.tool.name in sinks
}
`
)

// openOther starts such a server as a child of the role's process.
func openOther(name string) func(place) (running, error) {
	return func(p place) (running, error) {
		o := others[name]
		for file, text := range o.files {
			path := filepath.Join(p.dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				return running{}, err
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		l, err := listen(ctx) // a port that is free at this moment
		if err != nil {
			cancel()
			return running{}, err
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			cancel()
			return running{}, err
		}
		cmd := exec.CommandContext(ctx, filepath.Join(p.others, name), o.args(p.dir, address)...)
		var said bytes.Buffer
		cmd.Dir, cmd.Stderr = p.dir, &said
		if err := cmd.Start(); err != nil {
			cancel()
			return running{}, err
		}
		stop := func() error { cancel(); _ = cmd.Wait(); return nil } // it says that it was killed
		if err := answers(ctx, address); err != nil {
			return running{}, errors.Join(fmt.Errorf("%s does not answer: %w", name, err), stop(), errors.New(said.String()))
		}
		return running{address: address, cpu: func() time.Duration { return cpuOf(cmd.Process.Pid) }, close: stop}, nil
	}
}

// requestsFor are the calls of a slice as a server wants to be asked.
func (r *role) requestsFor(n int) [][]byte {
	among := cmp.Or(r.conversations, conversations)
	o, foreign := others[r.name]
	if !foreign {
		return calls(n, among)
	}
	out := make([][]byte, n)
	slice, now := sliceName(), time.Now()
	for i := range out {
		path, body := o.request(call(slice, i, among, now))
		out[i] = fmt.Appendf(nil, foreignHead, path, len(body), body)
	}
	return out
}

// foreignHead has no signature, for none is checked there.
const foreignHead = "POST %s HTTP/1.1\r\nhost: 127.0.0.1:8787\r\nconnection: keep-alive\r\ncontent-type: application/json\r\n" +
	"accept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\ncontent-length: %d\r\n\r\n%s"

// yes is what an answer that allows holds.
func (r *role) yes() []byte {
	if o, foreign := others[r.name]; foreign {
		return []byte(o.yes)
	}
	return isAllow
}
