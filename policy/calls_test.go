package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestCalls reads testdata/calls/*.txt. A row is `facts | call`:
//
//	modes=aaaacc; raise=local | [tainted] web_fetch {"url":"https://example.com"}
//
// The facts are those of [facts]; "modes" has a letter for each level, from system to untrusted: a allows, c asks, r
// refuses. The call is a tool with its arguments, or `$ command` for exec; before it, in brackets, the setting (see
// [setting]). A line `== config` gives the policy for the rows below it, in the words of verifier.yaml. Lines with # are
// comments.
func TestCalls(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/calls/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			callsOf(t, file)
		})
	}
}

func callsOf(t *testing.T, file string) {
	p := must(t, policy.Config{})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		if config, ok := strings.CutPrefix(line, "=="); ok {
			p = configured(t, config)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		want, input, ok := strings.Cut(line, " | ")
		if !ok {
			t.Fatalf("%s:%d: want `facts | call`: %s", file, n+1, line)
		}
		c, view := parsed(t, input)
		plan := p.Plan(c)
		v := p.Judge(c, view)
		for fact := range strings.SplitSeq(want, "; ") {
			name, value, _ := strings.Cut(fact, "=")
			is, known := facts[name]
			if !known {
				t.Fatalf("%s:%d: what is the fact %q?", file, n+1, name)
			}
			if got := is(&judged{p, c, &plan, &v, &view, value}); got != value {
				t.Errorf("%s:%d: %s=%s, want %s: %s\n  %q", file, n+1, name, got, value, input, v.Sentences())
			}
		}
	}
}

func configured(t *testing.T, text string) *policy.Policy {
	t.Helper()
	var c struct {
		policy.Config `yaml:",inline"`
		Owned         policy.Guard `yaml:"guard"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	c.Guard = c.Owned
	return must(t, c.Config)
}

// judged is what a row is about.
type judged struct {
	p     *policy.Policy
	c     *protocol.Call
	plan  *policy.Plan
	v     *policy.Verdict
	view  *policy.View
	value string // what the row says
}

var facts = map[string]func(j *judged) string{
	"mode": func(j *judged) string {
		return map[taint.Mode]string{allow: "allow", confirm: "ask", restrict: "refuse"}[j.v.Mode]
	},
	"rule":      func(j *judged) string { return j.v.Rule },
	"says":      func(j *judged) string { return held(j.v.Sentences(), j.value) },
	"guard":     func(j *judged) string { return strconv.FormatBool(j.v.Rule == "guard") },
	"modes":     func(j *judged) string { return modes(j.plan.Modes) },
	"row":       func(j *judged) string { return modes(j.p.Row(j.c.Context.AgentID, j.c.Tool)) },
	"like":      func(j *judged) string { return likeness(j, j.value) },
	"returns":   func(j *judged) string { return j.p.Response(j.c.Tool).String() },
	"raise":     func(j *judged) string { return j.plan.Raise.String() },
	"source":    func(j *judged) string { return j.plan.Source },
	"secret":    func(j *judged) string { return strconv.FormatBool(j.plan.Secret != "") },
	"harmless":  func(j *judged) string { return strconv.FormatBool(j.plan.Harmless()) },
	"leaves":    func(j *judged) string { return strconv.FormatBool(j.plan.Leaves) },
	"grantable": func(j *judged) string { return strconv.FormatBool(j.plan.Grantable) },
	"scope":     func(j *judged) string { return strconv.FormatBool(j.plan.InScope()) },
	"args":      func(j *judged) string { return strconv.FormatBool(j.plan.ByArguments()) },
	"tainted":   func(j *judged) string { return strconv.FormatBool(j.v.Tainted) },
	"shell":     func(j *judged) string { return strconv.FormatBool(j.plan.Line != nil) },
	"atcap":     func(j *judged) string { return strconv.FormatBool(j.v.AtCap && !j.v.Grantable) },
	"alone":     func(j *judged) string { return strconv.FormatBool(j.v.LevelAlone) },
	"lasting":   func(j *judged) string { return strconv.FormatBool(j.v.Grantable) },
	"schedules": func(j *judged) string { return strconv.FormatBool(j.plan.Reach.Schedules != nil) },
	"sends":     func(j *judged) string { return strings.Join(j.plan.Reach.Sends, " ") },
	"reads":     func(j *judged) string { return strings.Join(j.plan.Reach.Reads, " ") },
	"birth":     func(j *judged) string { return j.plan.Birth.String() },
	"starter":   func(j *judged) string { return j.plan.Initiator.Level.String() },
	"cap":       func(j *judged) string { return strconv.Itoa(j.plan.RunCap) },
	"pattern":   func(j *judged) string { return j.v.Why[1].Rule },
	"risks": func(j *judged) string {
		var out []string
		for _, r := range j.plan.Risks(j.view, false) {
			out = append(out, risks[r])
		}
		return strings.Join(out, " ")
	},
}

// risks has a short name for each mark.
var risks = map[policy.Risk]string{
	policy.RunsDownloaded: "joined", policy.DeletesFiles: "deletes", policy.CantBeUndone: "undone",
	policy.ChangesSettings: "settings", policy.Publishes: "publishes", policy.HoldsSecret: "secret",
	policy.OutsideWorkspace: "outside", policy.LeavesMachine: "leaves",
}

// held is the words if the sentences have them.
func held(sentences []string, words string) string {
	if all := strings.Join(sentences, " "); !strings.Contains(all, words) {
		return all
	}
	return words
}

// likeness is the other tool's name if this one is called as it is.
func likeness(j *judged, other string) string {
	if got, want := j.p.Row("", j.c.Tool), j.p.Row("", other); got != want {
		return fmt.Sprintf("%s and not %s", modes(got), modes(want))
	}
	return other
}

// parsed is the call of a row, and the conversation it is made in.
func parsed(t *testing.T, input string) (*protocol.Call, policy.View) {
	t.Helper()
	words := ""
	if strings.HasPrefix(input, "[") {
		words, input, _ = strings.Cut(input[1:], "] ")
	}
	name, params, _ := strings.Cut(input, " ")
	name = strings.ReplaceAll(name, "␣", " ")
	if name == "$" {
		text, err := json.Marshal(map[string]string{"command": params})
		if err != nil {
			t.Fatal(err)
		}
		name, params = "exec", string(text)
	}
	if params == "" {
		params = "{}"
	}
	c, view := call(name, params), at(owner)
	for word := range strings.FieldsSeq(words) {
		key, value, _ := strings.Cut(word, "=")
		set, known := setting[key]
		if !known {
			t.Fatalf("what is the setting %q?", word)
		}
		set(c, &view, value)
	}
	return c, view
}

// setting says what a word of a setting changes.
var setting = map[string]func(c *protocol.Call, v *policy.View, value string){
	"level": func(_ *protocol.Call, v *policy.View, value string) {
		if err := v.Level.UnmarshalText([]byte(value)); err != nil {
			panic(err)
		}
	},
	"seen": func(_ *protocol.Call, v *policy.View, _ string) { // all that was written there
		v.Seen = true
	},
	"unseen":  func(_ *protocol.Call, v *policy.View, _ string) { v.Seen, v.Mark = false, "7C9A5D2E" },
	"unknown": func(_ *protocol.Call, v *policy.View, _ string) { v.Seen, v.Mark = false, "" },
	"lost":    func(_ *protocol.Call, v *policy.View, _ string) { v.Seen, v.Mark, v.Lost = false, "", true },
	"secret":  func(_ *protocol.Call, v *policy.View, _ string) { v.Secret = ".env" },
	"secrets": func(_ *protocol.Call, v *policy.View, _ string) { v.Secret = "a key" },
	"bears":   func(_ *protocol.Call, v *policy.View, _ string) { v.Bears = true },
	"capped":  func(_ *protocol.Call, v *policy.View, _ string) { v.Calls = 101 },
	"halted":  func(_ *protocol.Call, v *policy.View, _ string) { v.Halted = true },
	"here": func(c *protocol.Call, _ *policy.View, _ string) {
		c.Context.Workspace, c.Context.Platform = "/home/ann/proj", "linux"
	},
	"agent": func(c *protocol.Call, _ *policy.View, value string) {
		c.Context.AgentID, c.Context.SessionKey = value, ""
	},
	"session": func(c *protocol.Call, _ *policy.View, value string) { c.Context.SessionKey = value },
	"stranger": func(c *protocol.Call, _ *policy.View, _ string) {
		c.Context.SenderID, c.Context.SenderIsOwner = "7", false
	},
	"nobody": func(c *protocol.Call, _ *policy.View, _ string) {
		c.Context.SenderID, c.Context.SenderIsOwner = "", false
	},
	"trigger":   func(c *protocol.Call, _ *policy.View, value string) { c.Context.Trigger = value },
	"webhook":   func(c *protocol.Call, _ *policy.View, _ string) { c.Context.InputProvenance.Kind = "webhook" },
	"spawned":   func(c *protocol.Call, _ *policy.View, value string) { c.Context.SpawnedBy = value },
	"run":       func(c *protocol.Call, _ *policy.View, value string) { c.Context.RunID = value },
	"iteration": func(c *protocol.Call, _ *policy.View, _ string) { c.Context.Iteration = new(1) },
	"reads": func(c *protocol.Call, _ *policy.View, _ string) {
		c.Hints.ReadOnly, c.Hints.OpenWorld = new(true), new(false)
	},
	"writes":      func(c *protocol.Call, _ *policy.View, _ string) { c.Hints.ReadOnly = new(false) },
	"destructive": func(c *protocol.Call, _ *policy.View, _ string) { c.Hints.Destructive = new(true) },
	"openworld":   func(c *protocol.Call, _ *policy.View, _ string) { c.Hints.OpenWorld = new(true) },
}
