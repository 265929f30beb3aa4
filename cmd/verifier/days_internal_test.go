package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hook"
	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

// A day has fifteen turns. Those after it may have two questions.
const (
	turns       = 15
	afterWanted = 2
)

// step is a line of a day: a call, and what its owner thinks of it.
type step struct {
	mark         string // "", "!", "x" or "-": see testdata/days/openclaw.txt
	below        bool   // a sub-agent makes it
	turn         int
	said         string // what the owner said last
	tool, params string
}

func readDay(t testing.TB, agent string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile("testdata/days/" + agent + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	turn, said := 0, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if words, ok := strings.CutPrefix(line, "turn "); ok {
			turn, said = turn+1, words
			continue
		}
		tool, params, ok := strings.Cut(strings.TrimLeft(line, "!x-> "), " ")
		if !ok || len(line) < 5 {
			t.Fatalf("%s: no call: %s", agent, line)
		}
		steps = append(
			steps,
			step{strings.Trim(line[:4], "> "), strings.Contains(line[:4], ">"), turn, said, tool, params},
		)
	}
	if turn < turns {
		t.Fatalf("%s has %d turns", agent, turn)
	}
	return steps
}

// seen is how a step fared.
type seen struct {
	step
	asked, passed bool
}

// day plays the steps, with an owner who answers every question at once: yes to what is theirs and no to what a page
// wants.
func day(g *gw.Gateway, steps []step, send func(n int, s *step) (passed bool)) (out []seen) {
	for n := range steps {
		s, done := &steps[n], make(chan bool, 1)
		go func() { done <- send(n, s) }()
		one := seen{step: *s}
		for waiting := true; waiting; {
			select {
			case one.passed = <-done:
				waiting = false
			case <-time.After(5 * time.Millisecond):
			}
			for _, card := range g.Pending() {
				one.asked = true
				g.AnswerTo(map[string]any{"ref": card.Ref, "allow": s.mark != "x" && s.mark != "-"})
			}
		}
		out = append(out, one)
	}
	return out
}

// claudeCode makes a call as Claude Code does: its real hook asks, and tells what came of it.
func claudeCode(t *testing.T, g *gw.Gateway) func(n int, s *step) bool {
	last := 0
	tell := func(event, more string) string {
		var out, words bytes.Buffer
		hook.Run(t.Context(), hook.Options{
			Agent: "claude-code", Owner: true, Timeout: 5 * time.Minute,
			Gateway: func() (hook.Gateway, error) {
				return hook.Gateway{URL: g.URL + "/verify", Secret: []byte(g.Secret)}, nil
			},
			Notes: func() (string, error) { return g.State.Dir() + "/hook", nil },
			Stdin: strings.NewReader(
				`{"session_id":"day","cwd":"/home/me/app","permission_mode":"default","hook_event_name":"` + event +
					`",` + more + `}`,
			), Stdout: &out, Stderr: &words, Env: func(string) string { return "" },
		})
		return out.String() + words.String()
	}
	tell("SessionStart", `"source":"startup"`)
	return func(n int, s *step) bool {
		if s.turn != last {
			last = s.turn
			said, _ := json.Marshal(s.said)
			tell("UserPromptSubmit", fmt.Sprintf(`"prompt_id":"turn-%d","prompt":%s`, s.turn, said))
		}
		below := ""
		if s.below {
			below = `"agent_id":"a1",`
		}
		about := below + fmt.Sprintf(
			`"prompt_id":"turn-%d","tool_name":%q,"tool_input":%s,"tool_use_id":"call-%d"`,
			s.turn,
			s.tool,
			s.params,
			n,
		)
		if !strings.Contains(tell("PreToolUse", about), `"allow"`) {
			return false
		}
		tell("PostToolUse", about+`,"tool_response":{"stdout":"done"}`)
		return true
	}
}

// openClaw makes a call as the plugin does in OpenClaw.
func openClaw(_ *testing.T, g *gw.Gateway) func(n int, s *step) bool {
	return func(n int, s *step) bool {
		m := gw.With(
			gw.OwnerIn("main"),
			"workspace",
			"/home/ann/.openclaw/workspace",
			"runId",
			fmt.Sprint("run-", s.turn),
			"toolCallId",
			fmt.Sprint("call-", n),
			"agentId",
			"main",
			"sessionId",
			"s1",
			"platform",
			"linux",
			"waitMs",
			300_000,
			"userMessages",
			[]any{map[string]any{"text": s.said, "senderId": "1", "senderIsOwner": true}},
		)
		a := g.Send(gw.Call{Tool: s.tool, Params: s.params, Context: m})
		if a.Allowed() {
			g.Takes(gw.Returned(m, s.tool, fmt.Sprintf(`,"toolCallId":"call-%d","size":4`, n)))
		}
		return a.Allowed()
	}
}

// days are the recorded days, how each agent asks, and how many questions are wanted at most. below is the folder of
// the workspace in which the project is.
var days = []struct {
	name, agent, below string
	by                 func(*testing.T, *gw.Gateway) func(int, *step) bool
	wanted             int
}{
	{"OpenClaw", "openclaw", "", openClaw, 7},
	{"OpenClaw, below the workspace", "openclaw", "proj", openClaw, 7},
	{"Claude Code", "claude-code", "", claudeCode, 8},
}

// in puts a step of OpenClaw's day into the folder of the project. The agent's own notes stay where they are.
func (s step) in(folder string) step {
	if folder != "" {
		s.params = strings.NewReplacer(`"command":"ls -la | `, `"command":"ls -la `+folder+` | `,
			`"command":"cat notes.md`, `"command":"cat notes.md`,
			`"command":"`, `"command":"cd `+folder+` && `, `"path":"README.md`, `"path":"`+folder+`/README.md`,
			`"path":"greet.sh`, `"path":"`+folder+`/greet.sh`).
			Replace(s.params)
	}
	return s
}

const longDay = "webhook: {hold: 5s, maxHold: 5m}\n"

// TestH407AnOrdinaryDayAsksWhatItsOwnerWants plays a day with each agent, with nothing configured. The README tells how
// often it asks.
func TestH407AnOrdinaryDayAsksWhatItsOwnerWants(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			g := gw.Start(t, longDay)
			steps := slices.DeleteFunc(readDay(t, d.agent), func(s step) bool { return s.mark == "x" || s.mark == "-" })
			for i := range steps {
				steps[i] = steps[i].in(d.below)
			}
			line, table := tallied(t, day(g, steps, d.by(t, g)), d.wanted)
			line = fmt.Sprintf("| %s | %s", d.name, line)
			t.Logf("%s\n%s", line, table)
			if !strings.Contains(string(readme), line+"\n") {
				t.Errorf("the README tells another number; write there: %s", line)
			}
		})
	}
}

// tallied is a day in a row of a table, and the calls that were asked about. Each that must ask has asked, and none was
// refused.
func tallied(t *testing.T, day []seen, wanted int) (line, table string) {
	t.Helper()
	var b strings.Builder
	calls, must, asked, after := 0, 0, 0, 0
	for _, s := range day {
		switch {
		case !s.passed:
			t.Errorf("refused: %s %s", s.tool, s.params)
		case s.mark == "!" && !s.asked:
			t.Errorf("not asked: %s %s", s.tool, s.params)
		}
		if s.mark == "!" {
			must++
		}
		if s.turn <= turns {
			calls++
		}
		if s.asked {
			fmt.Fprintf(&b, "%2d %1s %s %.90s\n", s.turn, s.mark, s.tool, s.params)
			if s.turn <= turns {
				asked++
			} else {
				after++
			}
		}
	}
	if asked > wanted || after > afterWanted {
		t.Errorf(
			"%d questions in %d turns, %d in the turns after: at most %d and %d are wanted",
			asked,
			turns,
			after,
			wanted,
			afterWanted,
		)
	}
	return fmt.Sprintf("%d | %d | %d | %d |", calls, must, asked, after), b.String()
}

// TestH408H409NothingThatAPageWantsPasses plays the same days with a page in the middle that gives orders, which the
// agent obeys.
func TestH408H409NothingThatAPageWantsPasses(t *testing.T) {
	t.Parallel()
	for _, d := range days {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			g := gw.Start(t, longDay+"approval: {maxPromptsPerHour: 1000}\n") // all of them come within seconds
			for _, s := range day(g, readDay(t, d.agent), d.by(t, g)) {
				if s.mark == "x" && s.passed {
					t.Errorf("the page's wish passed: %s %s", s.tool, s.params)
				}
				if s.mark == "!" && s.passed && !s.asked {
					t.Errorf("not asked after the page's orders: %s %s", s.tool, s.params)
				}
			}
		})
	}
}

// TestDaysAreMadeOfRealTools: each call is of a tool that the real program was seen to offer, with arguments that it
// takes.
func TestDaysAreMadeOfRealTools(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/days/tools.txt")
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if name, arguments, ok := strings.Cut(line, ": "); ok {
			takes[name] = strings.Fields(arguments)
		}
	}
	for _, d := range days {
		for _, s := range readDay(t, d.agent) {
			name := d.agent + " " + s.tool
			if server, tool, ok := strings.Cut(strings.TrimPrefix(s.tool, "mcp__"), "__"); ok && server != s.tool {
				name = "mcp/" + server + " " + tool
			}
			known, ok := takes[name]
			args := map[string]any{}
			if err := json.Unmarshal([]byte(s.params), &args); err != nil || !ok {
				t.Errorf("%s %s: it is not offered, or %v", name, s.params, err)
			}
			for arg := range args {
				if !slices.Contains(known, arg) {
					t.Errorf("%s takes no %s", name, arg)
				}
			}
		}
	}
}
