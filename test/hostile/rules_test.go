// Package hostile has what is done to us, and what must come of it: files of rows that a stranger can read and extend.
//
// A row is `verdict | setting | input | why`. Lines that begin with # say what the rows below them have in common.
// The tests here try them below the door, against the function that decides; the package beside, test/e2e, proves that
// the door leads there.
package hostile_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// row is one line of a file.
type row struct {
	at                           string // file:line, which says where to look
	verdict, setting, input, why string
}

// rows are those of a file.
func rows(t *testing.T, file string) (out []row) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		// An input may hold bars: the verdict and the setting are the first two, the reason is the last.
		verdict, rest, ok1 := strings.Cut(line, " | ")
		setting, rest, ok2 := strings.Cut(rest, " | ")
		last := strings.LastIndex(rest, " | ")
		if !ok1 || !ok2 || last < 0 {
			t.Fatalf("%s:%d: want `verdict | setting | input | why`: %s", file, n, line)
		}
		out = append(out, row{fmt.Sprintf("%s:%d", file, n), verdict, setting, rest[:last], rest[last+3:]})
	}
	return out
}

// TestRules judges the calls of each file with nothing but what the setting says.
//
// The setting is a level, and what else holds: "tainted unseen" is a conversation that read outside content, where files
// were written that no person has seen; "secret": a secret was read there; "bears": the call holds one; "claude",
// "codex", "gemini", "opencode": that agent's hook asks, in the workspace /home/me/app; "stranger", "group": who started
// the run; "linux", "workspace", "windows": what OpenClaw says of the machine; "at=/etc", "in=/etc": the workspace, and the
// directory that the agent is in; "strict", "paranoid", ...: the profile.
//
// The input is `$ command`, or a tool and its arguments. The verdict is allow, ask or refuse; "allow taints" brings in
// outside content, "allow secret" marks the conversation as one that holds secrets.
func TestRules(t *testing.T) {
	t.Parallel()
	policies := map[string]*policy.Policy{}
	for _, file := range []string{"shell.txt", "names.txt", "agents.txt", "hooks.txt", "taint.txt"} {
		for _, r := range rows(t, file) {
			c, view, profile := r.call(t)
			p := policies[profile]
			if p == nil {
				var err error
				if p, _, err = policy.New(policy.Config{Profile: profile}); err != nil {
					t.Fatalf("%s: %v", r.at, err)
				}
				policies[profile] = p
			}
			v, plan := p.Judge(c, view), p.Plan(c)
			got := verdicts[v.Mode]
			if v.Mode == taint.Allow && plan.Raise >= taint.External {
				got += " taints"
			}
			if v.Mode == taint.Allow && plan.Secret != "" {
				got += " secret"
			}
			if got != r.verdict {
				t.Errorf("%s: %s, not %s: %s\n  %s", r.at, got, r.verdict, r.input, strings.Join(v.Sentences(), "\n  "))
			}
		}
	}
}

var verdicts = map[taint.Mode]string{taint.Allow: "allow", taint.Confirm: "ask", taint.Restrict: "refuse"}

// levels are the words for levels that a setting may use.
var levels = map[string]taint.Level{
	"clean": taint.Owner, "local": taint.Local, "shared": taint.Shared, "external": taint.External,
	"tainted": taint.Untrusted,
}

// call makes of a row what the policy judges.
func (r *row) call(t *testing.T) (c *protocol.Call, view policy.View, profile string) {
	t.Helper()
	view = policy.View{Level: taint.Owner, Seen: true}
	c = &protocol.Call{Client: "default", RequestID: "r", Context: protocol.Context{
		AgentID: "main", SessionKey: "agent:main:main", SenderID: "1", SenderIsOwner: true,
	}}
	for _, word := range strings.Fields(r.setting) {
		switch word {
		case "unseen":
			view.Seen, view.Mark = false, "7C9A5D2E"
		case "secret":
			view.Secret = ".env"
		case "bears":
			view.Bears = true
		case "claude", "codex", "gemini", "opencode":
			id := map[string]string{"claude": "claude-code"}[word]
			if id == "" {
				id = word
			}
			c.Context.AgentID, c.Context.SessionKey, c.Context.Workspace = id, "agent:"+id+":0a1b2c", "/home/me/app"
			c.Context.Platform = "linux"
		case "stranger":
			c.Context.SenderID, c.Context.SenderIsOwner = "7", false
		case "group":
			c.Context.SessionKey, c.Context.GroupID = "agent:main:telegram:group:1", "1"
		case "linux":
			c.Context.Platform = "linux"
		case "workspace":
			c.Context.Workspace = "/home/me/app"
		case "windows":
			c.Context.Workspace, c.Context.Platform = `C:\Users\me\app`, "win32"
		case "default", "paranoid", "permissive", "interactive", "strict":
			profile = word
		default:
			if at, found := strings.CutPrefix(word, "at="); found {
				c.Context.Workspace, c.Context.Directory = at, at
				break
			}
			if in, found := strings.CutPrefix(word, "in="); found {
				c.Context.Directory = in
				break
			}
			level, known := levels[word]
			if !known {
				t.Fatalf("%s: what is the setting %q?", r.at, word)
			}
			view.Level = level
		}
	}
	input := r.input
	if strings.HasPrefix(r.at, "names.txt") {
		input = unfold(input)
	}
	name, params, _ := strings.Cut(input, " ")
	if name == "$" {
		name = "exec"
		text, err := json.Marshal(map[string]string{"command": strings.ReplaceAll(params, `\n`, "\n")})
		if err != nil {
			t.Fatal(err)
		}
		params = string(text)
	}
	if params == "" {
		params = "{}"
	}
	c.Tool, c.Sent, c.Params = protocol.Canonical(name), name, jsontext.Value(params)
	return c, view, profile
}
