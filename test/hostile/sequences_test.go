package hostile_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/test/gateway"
	"github.com/openclaw-verifier/verifier/test/long"
)

// TestSequences plays what happens one after the other in a conversation, at a running gateway.
//
// The setting has the steps before the input, with "; " between them. A step is `tool arguments` or `$ command`, by
// the owner in the conversation a; before it may stand who calls, and where: `stranger b: $ date`. Who: owner,
// stranger, nobody (no sender), group (the owner where others hear), child (of the conversation a), guest (a stranger
// in such a one), cron (a scheduled job), app (the owner's, of a runtime that says that its workspace is
// /home/me/app), claude (Claude Code, there). `owner+x` is the same in the run x, `owner/x` in the context window x,
// `owner@x` in the directory x. A tool alone has usual arguments. `yes`, `yes 30`, `yes turn`, `yes exactly 30`, `no`
// answer the last question; `pause`, `resume`, `reset b` and `restart` are the owner's. `returns TOOL {…}` reports
// what a tool returned, and `tells EVENT {…}` what happened. A step that must come out in one way says so: `$ date =
// ask`. The verdict is that of the input: allow, ask, or deny (without a question).
//
// Each row is a client of its own, so that no row sees what another wrote, paused or scheduled.
func TestSequences(t *testing.T) {
	t.Parallel()
	for some := range slices.Chunk(rows(t, "sequences.txt"), 40) {
		t.Run(some[0].at, func(t *testing.T) {
			t.Parallel()
			playAll(t, some, gateway.Start(t, sequencesConfig(some)))
		})
	}
}

// TestSequencesAtTwoGateways plays the same at two gateways on one Redis, each step at the other one than that before.
func TestSequencesAtTwoGateways(t *testing.T) {
	t.Parallel()
	long.Only(t, "a real Redis")
	for some := range slices.Chunk(rows(t, "sequences.txt"), 40) {
		t.Run(some[0].at, func(t *testing.T) {
			redis := redistest.Start(t)
			config := sequencesConfig(some) + fmt.Sprintf(`
approvers: [{name: owner, ids: ["token:owner"]}]
ownerToken: %s
store: {url: %q, key: %s}
`, secret(-1), redis.URL(), secret(-2))
			one, other := gateway.Start(t, config), gateway.Start(t, config)
			one.Token = secret(-1)
			playAll(t, some, one, other)
		})
	}
}

func sequencesConfig(all []row) string {
	config := "approval: {maxPromptsPerHour: 1000}\nwebhook: {hold: 5s, clients: {"
	for n := range all {
		config += fmt.Sprintf("%s: [%s], ", client(n), secret(n))
	}
	return config + "}}\n"
}

// playAll plays rows at gateways that share a store.
func playAll(t *testing.T, all []row, gateways ...*gateway.Gateway) {
	t.Helper()
	var wg sync.WaitGroup
	many, token := make(chan bool, 4), gateways[0].Token
	of := func(n int) *play {
		p := &play{t: t, token: token, client: client(n), secret: secret(n), row: all[n]}
		p.space = "row" + strconv.Itoa(n)
		return p
	}
	for n := range all {
		p := of(n)
		if p.alone() {
			continue
		}
		for _, g := range gateways {
			p.gateways = append(p.gateways, g.By(p.secret))
		}
		many <- true
		wg.Go(func() {
			defer func() { <-many }()
			p.play()
		})
	}
	wg.Wait()
	for n := range all {
		if p := of(n); p.alone() {
			p.gateways = gateways
			p.play()
			p.g.Reply(".resume")
			p.g.Reply(".resume main")
		}
	}
}

// alone reports whether a row does what holds for every client.
func (p *play) alone() bool {
	return slices.ContainsFunc(strings.Split(p.row.setting, "; "), func(step string) bool {
		return step == "restart" || strings.HasPrefix(step, "pause")
	})
}

// play plays a row.
func (p *play) play() {
	p.t.Helper()
	for _, step := range strings.Split(p.row.setting, "; ") {
		want := ""
		if m := outcomes.FindStringSubmatch(step); m != nil {
			step, want = m[1], m[2]
		}
		if got := p.step(step); want != "" && got != want {
			p.t.Errorf("%s: %s, not %s: %s", p.row.at, got, want, step)
		}
	}
	if got := p.step(p.row.input); got != p.row.verdict {
		p.t.Errorf("%s: %s, not %s: %s (%s)\n  %s", p.row.at, got, p.row.verdict, p.row.input, p.row.why, p.said)
	}
}

// outcomes ends a step that says what must come of it.
var outcomes = regexp.MustCompile(`^(.*) = (allow|ask|deny)$`)

func client(row int) string { return "client" + strconv.Itoa(row) }

func secret(row int) string { return fmt.Sprintf("%.32x", sha256.Sum256([]byte(client(row)))) }

// play is a row that is being played.
type play struct {
	t        *testing.T
	gateways []*gateway.Gateway
	g        *gateway.Gateway // of this step
	steps    int
	token    string
	client   string
	secret   string
	row      row
	space    string // before the names of its conversations
	ref      string // of the last question
	said     string // the last answer
}

// usual are the arguments of a tool that stands alone.
var usual = map[string]string{
	"web_fetch": `{"url":"https://example.com/page"}`, "web_search": `{"query":"weather"}`,
	"read":  `{"path":"README.md"}`,
	"write": `{"path":"notes.md","content":"hello"}`, "message": `{"action":"send","target":"@bob","message":"hello"}`,
	"browser": `{"action":"open","url":"https://example.com/"}`, "gateway": `{"action":"restart"}`,
}

// step does one step, and says what came of it.
func (p *play) step(text string) string {
	p.t.Helper()
	p.g = p.gateways[p.steps%len(p.gateways)]
	p.g.Secret, p.g.Token = p.secret, p.token
	p.steps++
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "", "-":
		return ""
	case "yes", "no":
		return p.answer(word == "yes", rest)
	case "pause", "resume":
		return p.typed("." + word + " " + rest)
	case "reset":
		key, _ := p.context("owner", rest)["sessionKey"].(string)
		return p.typed(".reset-trust " + store.Name{Client: p.client, Key: key}.Ref())
	case "restart":
		for _, g := range p.gateways {
			g.Restart()
		}
		return ""
	}
	who, conversation := "owner", "a"
	if actor, call, ok := strings.Cut(text, ": "); ok && !strings.ContainsAny(actor, `{$"'`) {
		who, conversation, _ = strings.Cut(actor, " ")
		if conversation == "" {
			conversation = "a"
		}
		text = call
	}
	context := p.context(who, conversation)
	name, params, _ := strings.Cut(text, " ")
	switch name {
	case "returns":
		tool, more, _ := strings.Cut(params, " ")
		if more = strings.TrimSuffix(strings.TrimPrefix(more, "{"), "}"); more != "" {
			more = "," + more
		}
		p.g.Takes(gateway.Returned(context, tool, more))
		return ""
	case "tells":
		event, about, _ := strings.Cut(params, " ")
		p.g.Takes(gateway.Event{Name: event, About: strings.ReplaceAll(about, "SPACE", p.space), Context: context})
		return ""
	}
	c := gateway.Call{Tool: name, Params: strings.ReplaceAll(params, "SPACE", p.space), Context: context}
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

// context is what a call says of who makes it, and where.
func (p *play) context(who, conversation string) gateway.Context {
	p.t.Helper()
	who, directory, _ := strings.Cut(who, "@")
	who, window, _ := strings.Cut(who, "/")
	who, run, _ := strings.Cut(who, "+")
	ctx := p.whose(who, conversation)
	for name, value := range map[string]string{"directory": directory, "sessionId": window, "runId": run} {
		if value != "" {
			ctx = gateway.With(ctx, name, value)
		}
	}
	return ctx
}

func (p *play) whose(who, conversation string) gateway.Context {
	p.t.Helper()
	name := p.space + conversation
	if rest, child := strings.CutPrefix(conversation, "subagent:"); child {
		name = "subagent:" + p.space + rest
	}
	here := gateway.OwnerIn(name)
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
		return gateway.Spawned(name, p.space+"a")
	case "guest":
		return gateway.With(gateway.Spawned(name, p.space+"a"), "senderId", "7")
	case "cron":
		return gateway.Context{"sessionKey": "agent:main:cron:job:run:" + p.space + conversation, "trigger": "cron"}
	case "app":
		return gateway.With(here, "workspace", "/home/me/app", "platform", "linux")
	case "claude":
		key := "agent:claude-code:" + p.space + conversation
		return gateway.With(here, "agentId", "claude-code", "sessionKey", key, "workspace", "/home/me/app",
			"platform", "linux")
	}
	p.t.Fatalf("%s: who is %q?", p.row.at, who)
	return nil
}

// answer is the owner's yes or no to the last question.
func (p *play) answer(yes bool, scope string) string {
	in := map[string]any{"ref": p.ref, "allow": yes}
	if minutes, exactly := strings.CutPrefix(scope, "exactly "); exactly {
		in["exactly"], scope = true, minutes
	}
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
	for range 10 {
		if v.Status != http.StatusServiceUnavailable { // a busy machine's store may be too slow
			break
		}
		v = p.g.AnswerTo(in)
	}
	p.said = fmt.Sprint(v)
	return v.Kind
}

// typed is a line that the owner types.
func (p *play) typed(line string) string {
	v := p.g.Reply(line)
	p.said = fmt.Sprint(v)
	return v.Kind
}
