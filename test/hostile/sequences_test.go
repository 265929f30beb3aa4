package hostile_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/test/gateway"
)

// TestSequences plays what happens one after the other in a conversation, at a running gateway.
//
// The setting has the steps before the input, with "; " between them. A step is `tool arguments` or `$ command`, by the
// owner in the conversation a; before it may stand who calls, and where: `stranger b: $ date`. Who: owner, stranger,
// nobody (no sender), group (the owner where others hear), child (of the conversation a). A tool alone has usual arguments.
// `yes`, `yes 30`, `yes turn`, `no` answer the last question, `pause`, `resume`, `reset b` and `restart` are the owner's;
// `returns TOOL {…}` reports what a tool returned, with these members. A step that must come out in one way says so:
// `$ date = ask`. The verdict is that of the input: allow, ask, or deny (without a question).
func TestSequences(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "approval: {maxPromptsPerHour: 0}")
	for n, r := range rows(t, "sequences.txt") {
		p := &play{t: t, g: g, row: r, space: "row" + strconv.Itoa(n)}
		for _, step := range strings.Split(r.setting, "; ") {
			want := ""
			if at := strings.LastIndex(step, " = "); at > 0 {
				step, want = step[:at], step[at+3:]
			}
			if got := p.step(step); want != "" && got != want {
				t.Errorf("%s: %s, not %s: %s", r.at, got, want, step)
			}
		}
		if got := p.step(r.input); got != r.verdict {
			t.Errorf("%s: %s, not %s: %s (%s)\n  %s", r.at, got, r.verdict, r.input, r.why, p.said)
		}
	}
}

// play is a row that is being played.
type play struct {
	t     *testing.T
	g     *gateway.Gateway
	row   row
	space string // before the names of its conversations
	ref   string // of the last question
	said  string // the last answer
}

// usual are the arguments of a tool that stands alone.
var usual = map[string]string{
	"web_fetch": `{"url":"https://example.com/page"}`, "web_search": `{"query":"weather"}`, "read": `{"path":"README.md"}`,
	"write": `{"path":"notes.md","content":"hello"}`, "message": `{"action":"send","target":"@bob","message":"hello"}`,
	"browser": `{"action":"open","url":"https://example.com/"}`, "gateway": `{"action":"restart"}`,
}

// step does one step, and says what came of it.
func (p *play) step(text string) string {
	p.t.Helper()
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "", "-":
		return ""
	case "yes", "no":
		return p.answer(word == "yes", rest)
	case "pause", "resume":
		return p.typed("." + word + " " + rest)
	case "reset":
		return p.typed(".reset-trust agent:main:" + p.space + rest)
	case "restart":
		p.g.Restart()
		return ""
	}
	who, conversation := "owner", "a"
	if actor, call, ok := strings.Cut(text, ": "); ok && !strings.ContainsAny(actor, `{$"`) {
		who, conversation, _ = strings.Cut(actor, " ")
		if conversation == "" {
			conversation = "a"
		}
		text = call
	}
	context := p.context(who, conversation)
	name, params, _ := strings.Cut(text, " ")
	if name == "returns" {
		tool, more, _ := strings.Cut(params, " ")
		p.g.Takes(gateway.Returned(context, tool, ","+strings.Trim(more, "{}")))
		return ""
	}
	c := gateway.Call{Tool: name, Params: params, Context: context}
	if name == "$" {
		c = gateway.Sh(params, context)
	}
	if params == "" {
		c.Params = usual[name]
	}
	a := p.g.Send(gateway.Impatient(c))
	p.said = a.Raw
	switch {
	case a.Allowed():
		return "allow"
	case a.Ref != "" && strings.HasPrefix(a.Reason, "Owner approval required"):
		p.ref = a.Ref
		return "ask"
	}
	return "deny"
}

func (p *play) context(who, conversation string) gateway.Context {
	p.t.Helper()
	here := gateway.OwnerIn(p.space + conversation)
	switch who {
	case "owner":
		return here
	case "stranger":
		return gateway.With(here, "senderId", "7", "senderIsOwner", false)
	case "nobody":
		return gateway.With(here, "senderId", nil, "senderIsOwner", nil)
	case "group":
		key := "agent:main:telegram:group:" + p.space + conversation
		return gateway.With(here, "sessionKey", key, "groupId", p.space+conversation)
	case "child":
		return gateway.Spawned(p.space+conversation, p.space+"a")
	}
	p.t.Fatalf("%s: who is %q?", p.row.at, who)
	return nil
}

// answer is the owner's yes or no to the last question.
func (p *play) answer(yes bool, scope string) string {
	in := map[string]any{"ref": p.ref, "allow": yes}
	if scope == "turn" {
		in["turn"] = true
	} else if scope != "" {
		minutes, err := strconv.Atoi(scope)
		if err != nil {
			p.t.Fatalf("%s: what is %q?", p.row.at, scope)
		}
		in["minutes"] = minutes
	}
	v := p.g.AnswerTo(in)
	p.said = fmt.Sprint(v)
	return v.Kind
}

// typed is a line that the owner types.
func (p *play) typed(line string) string {
	v := p.g.Reply(line)
	p.said = fmt.Sprint(v)
	return v.Kind
}
