package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// Who may answer, what they may stop, and what a reload changes of that.

const (
	annToken  = "5b1d8a0c9f3e7d2461a8c0b7e4f91d36"
	bobToken  = "e02f6c9b17d84a53b6f0e1c87d29a4f5"
	coraToken = "77d0e6b1a94c4f2f8c13b5e29a06d4c8"
)

// three are Ann, who may also answer by phone, Bob and Cora. withoutAnn are the others.
const (
	ann1       = `{name: Ann, token: ` + annToken + `, telegram: 7}, `
	others     = `{name: Bob, token: ` + bobToken + `}, {name: Cora, token: ` + coraToken + `}`
	three      = "approvers: [" + ann1 + others + "]\n"
	withoutAnn = "approvers: [" + others + "]\n"
)

// says is an answer with somebody's token.
func says(g *gateway.Gateway, token string, in map[string]any) (v gateway.Verdict) {
	v.Status = g.As(token, http.MethodPost, "/owner/answer", in, &v)
	return v
}

// by is the gateway as somebody else sees it.
func by(g *gateway.Gateway, token string) *gateway.Gateway {
	other := *g
	other.Token = token
	return &other
}

func TestAnApproverRemovedByAReloadNoLongerCounts(t *testing.T) {
	t.Parallel()
	const two = patient + "approval: {approvals: 2}\n"
	gateway.OnBoth(t, two+three, func(t *testing.T, g *gateway.Gateway) {
		bob := by(g, bobToken)
		held := g.Hold(gateway.Sh("date", unvouched("x")))
		yes := map[string]any{"ref": bob.Waits().Ref, "allow": true}
		if v := says(g, annToken, yes); !strings.Contains(v.Text, "1 of 2") {
			t.Fatalf("Ann is told %+v", v)
		}
		g.Reload(two + withoutAnn)
		if v := says(g, annToken, yes); v.Status != http.StatusUnauthorized {
			t.Errorf("Ann's token got %+v", v)
		}
		if v := says(g, bobToken, yes); v.State != "open" || !strings.Contains(v.Text, "1 of 2") {
			t.Errorf("with Ann's yes void, Bob is told %+v", v)
		}
		if v := says(g, coraToken, yes); v.State != "approved" || !strings.Contains(v.Text, "by Bob, Cora") {
			t.Errorf("Cora is told %+v", v)
		}
		if a := <-held; !a.Allowed() {
			t.Errorf("the call got %s", a.Raw)
		}
	})
}

// An unused yes, and a grant, end with the right of who gave them; so does one of an id that was taken out.
func TestH69AYesEndsWithItsGiversRight(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, patient+three)
	bob := by(g, bobToken)
	c := gateway.Sh("date", unvouched("x"))
	first := g.Ask(c)
	if v := says(g, annToken, map[string]any{"ref": first.Ref, "allow": true}); v.State != "approved" {
		t.Fatalf("Ann is told %+v", v)
	}
	y := fetched(g, "y")
	held := g.Hold(gateway.Sh("ls -l", y))
	says(g, annToken, map[string]any{"ref": bob.Waits().Ref, "allow": true, "minutes": 30})
	if a := <-held; !a.Allowed() {
		t.Fatalf("the call got %s", a.Raw)
	}
	g.Allow(gateway.Sh("ls", y))
	g.Reload(patient + withoutAnn)
	if a := g.Send(gateway.Impatient(c)); a.Allowed() {
		t.Errorf("the retry got %s", a.Raw)
	}
	if v := says(g, bobToken, map[string]any{"ref": first.Ref, "allow": true}); v.Kind != "too late" {
		t.Errorf("a late yes is told %+v", v)
	}
	g.Ask(gateway.Sh("ls -a", y))
	g.Reload(patient + three)
	g.Allow(gateway.Sh("ls -t", y))
	g.Reload(patient + strings.Replace(three, annToken, "3d1f60b4c2a94e8d8c57b0a1f92e6d34", 1)) // a new token is the same person
	g.Allow(gateway.Sh("ls -r", y))
	g.Reload(patient + "approval: {approvals: 2}\n" + three)
	g.Ask(gateway.Sh("ls -s", y)) // one yes is not enough any more
	before := g.Log.String()
	g.Reload(patient + "approvers: [{name: Mal, telegram: 7}, " + ann1 + others + "]\n") // two people with one id
	if after := strings.TrimPrefix(g.Log.String(), before); !strings.Contains(after, "not reloaded") {
		t.Errorf("the log says %s", after)
	}
	if status := g.As(bobToken, http.MethodGet, "/owner/pending", nil, nil); status != http.StatusOK {
		t.Errorf("after a reload that was refused Bob got %d", status)
	}
}

// Only these may answer what the agent asks, on this channel alone.
func TestAnAgentSaysWhoIsAskedAndWhere(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t, botToken)
	chats := fmt.Sprintf("channels: {telegram: {botToken: %q, chatId: 7, apiUrl: %q}}\n", botToken, s.URL())
	agents := "agents: {main: {approvers: [Ann, Bob], channels: [telegram]}}\napproval: {approvals: 2}\n"
	g := gateway.Start(t, patient+chats+three+agents)
	eventually(t, "the gateway is ready", func() bool { status, _ := g.Ready(); return status == http.StatusOK })
	g.Allow(gateway.Fetch(gateway.OwnerIn("x")))
	held := g.Hold(gateway.Sh("date", gateway.With(gateway.OwnerIn("x"), "agentId", "main")))
	m := message(t, s, "🔐")
	_, ref, _ := strings.Cut(m.Text, "ref: ")
	yes := map[string]any{"ref": ref[:4], "allow": true}
	if v := says(g, coraToken, yes); v.Kind != "unauthorised" || !strings.Contains(v.Text, "It goes to Ann, Bob") {
		t.Errorf("Cora is told %+v", v)
	}
	tap(t, s, telegramtest.Person{ID: 7, Name: "Ann"}, m, "Allow once")
	message(t, s, "1 of 2")
	if v := says(g, annToken, yes); v.Kind == "counted" {
		t.Errorf("Ann, by her token, is told %+v", v)
	}
	says(g, bobToken, yes)
	if a := <-held; a.Allowed() { // the terminal is not among the agent's channels
		message(t, s, "Approved once by Ann, Bob")
	} else {
		t.Errorf("got %s", a.Raw)
	}
}

// A line that the runtime passes on counts where the config says so, for the client and the conversation in which it was typed.
func TestAnApprovalTypedIntoTheRuntimesChatLetsTheCallPass(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, strings.Replace(people, "hold: 5s", "hold: 60s, maxHold: 60s", 1))
	held := g.Hold(gateway.Sh("date", unvouched("m")))
	card := g.Waits()
	if v := relay(t, g, ".pending", ann()); v.Kind != "told" || !strings.Contains(v.Text, card.Ref) || !strings.Contains(v.Text, `"exec"`) {
		t.Errorf("pending is told %+v", v)
	}
	v := relay(t, g, ".approve exec "+card.Code(t), ann())
	if v.Kind != "counted" || v.Text != `"exec" approved once by Ann (telegram through default).` {
		t.Errorf("told %+v", v)
	}
	if a := <-held; !a.Allowed() || !strings.Contains(string(g.Recorded()), `"via":"telegram through default"`) {
		t.Errorf("got %s", a.Raw)
	}
	held = g.Hold(gateway.Sh("ls", unvouched("m")))
	relay(t, g, ".deny "+g.Waits().Code(t)+" not now", ann())
	if a := <-held; a.Allowed() || !strings.Contains(a.Reason, "not now") {
		t.Errorf("got %s", a.Raw)
	}
	refs := map[string]string{}
	for _, session := range []string{"m", "n"} {
		g.Allow(gateway.Fetch(gateway.OwnerIn(session)))
		g.Ask(gateway.Sh("date", gateway.OwnerIn(session)))
		refs[session] = g.Waits().Session
		g.Refuse(g.Waits().Ref, "")
	}
	refuses := func(g *gateway.Gateway, kind string, lines ...string) {
		t.Helper()
		for _, text := range lines {
			if v := relay(t, g, text, ann()); v.Kind != kind {
				t.Errorf("%s is told %+v, want %s", text, v, kind)
			}
		}
	}
	refuses(g, "not found", ".reset-trust "+refs["n"], ".reset-trust "+refs["m"][:4])
	refuses(g, "told", ".reset-trust "+refs["m"])
	g.Allow(gateway.Sh("id", gateway.OwnerIn("m")))
	g.Ask(gateway.Sh("id", gateway.OwnerIn("n")))
	g.Refuse(g.Waits().Ref, "")
	refuses(g, "told", ".pause")
	g.Deny(gateway.Sh("date", gateway.OwnerIn("m")))
	const paused = "Agents are paused. That is lifted where verifier asks you.\nNothing is waiting."
	if v := relay(t, g, ".pending", ann()); v.Text != paused {
		t.Errorf("pending tells more, or less, than that agents are paused: %+v", v)
	}
	refuses(g, "misunderstood", ".resume", ".help", ".approve exec", "hello")
	g.Deny(gateway.Sh("date", gateway.OwnerIn("m")))
	g.Reply(".resume")

	// H24: guesses lock the person, and a stranger's are not even looked at.
	held = g.Hold(gateway.Sh("whoami", unvouched("m")))
	card = g.Waits()
	for i := range 10 {
		relay(t, g, fmt.Sprintf(".approve exec 1000000%d", i), ann("senderId", "222"))
	}
	refuses(g, "not found", ".approve exec 00000001", ".approve exec 00000002", ".approve exec 00000003", ".approve exec 00000004")
	refuses(g, "locked", ".approve exec 00000005", ".approve exec "+card.Code(t))
	refused(t, g, held)
	for what, config := range map[string]string{
		"by default":       "",
		"on another place": "webhook: {relayApprovals: {default: [slack]}}\n",
	} {
		g.Reload(strings.Split(people, "webhook:")[0] + config)
		a := g.Ask(gateway.Sh("date", unvouched(what)))
		card := g.Waits()
		refuses(g, "unauthorised", ".approve exec "+card.Code(t), ".deny "+card.Code(t), ".pending", ".pause", ".reset-trust "+card.Session)
		g.Refuse(a.Ref, "")
	}
}

// One client carries no answer to another's question.
func TestH26AClientCarriesNoAnswerToAnothersQuestion(t *testing.T) {
	t.Parallel()
	const first, second = "3d1f60b4c2a94e8d8c57b0a1f92e6d34", "a84c0e7b91d24f6fb3c56e2d07f1984a"
	config := "webhook: {hold: 60s, maxHold: 60s, clients: {laptop: [" + first + "], server: [" + second + "]}, " +
		"relayApprovals: {laptop: [telegram], server: [telegram]}}\n"
	laptop := gateway.Start(t, strings.Split(people, "webhook:")[0]+config).By(first)
	server := laptop.By(second)
	held := laptop.Hold(gateway.Sh("date", unvouched("m")))
	card := laptop.Waits()
	for _, text := range []string{".approve exec " + card.Code(t), ".deny " + card.Code(t), ".reset-trust " + card.Session} {
		if v := relay(t, server, text, ann()); v.Kind != "not found" {
			t.Errorf("%s is told %+v", text, v)
		}
	}
	if v := relay(t, server, ".pending", ann()); strings.Contains(v.Text, card.Ref) {
		t.Errorf("another client's question is listed: %+v", v)
	}
	if v := relay(t, laptop, ".approve exec "+card.Code(t), ann()); v.Kind != "counted" {
		t.Errorf("told %+v", v)
	}
	if a := <-held; !a.Allowed() {
		t.Errorf("got %s", a.Raw)
	}
}

// A pause stops everything but what is harmless, in conversations that were never seen too. It ends the wait, overturns a
// yes and outlives the process; only a restrict and a blocked turn do the like.
func TestAPauseStopsEverythingButWhatIsHarmless(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, patient, func(t *testing.T, g *gateway.Gateway) {
		main := gateway.OwnerIn("main")
		paused := func(c gateway.Call) {
			t.Helper()
			if a := g.Deny(c); !strings.Contains(a.Reason, "paused") || a.Ref != "" {
				t.Errorf("%s in %v: %s", c.Tool, c.Context, a.Raw)
			}
		}
		g.Allow(gateway.Fetch(gateway.OwnerIn("x")))
		held := g.Hold(gateway.Sh("date", gateway.With(gateway.OwnerIn("x"), "runId",
			"run ghp_16C7e42F292c6912E7710c838347Ae178B4a")))
		card := g.Waits()
		if v := g.Reply(".pause"); v.Kind != "told" || !strings.Contains(v.Text, "All agents paused by owner") {
			t.Fatalf("told %+v", v)
		}
		if a := <-held; a.Allowed() || !strings.Contains(a.Reason, "paused") {
			t.Errorf("who waited got %s", a.Raw)
		}
		if v := g.Approve(card.Ref, 30); v.State != "approved" || !strings.Contains(v.Text, "The agent is paused") {
			t.Errorf("the approver is told %+v", v)
		}
		for _, c := range []gateway.Call{
			gateway.Sh("date", main), gateway.Sh("date", gateway.OwnerIn("never-seen-before")), gateway.Sh("date", gateway.Context{}),
			gateway.Fetch(main), {Tool: "message", Params: `{"text":"x"}`, Context: main}, {Tool: "gateway", Context: main},
			gateway.Sh("date -u", gateway.OwnerIn("x")), // under a grant
		} {
			paused(c)
		}
		g.Allow(read("x", main))
		g.Restart()
		paused(gateway.Sh("date", main))
		if v := g.Reply(".pending"); !strings.Contains(v.Text, "PAUSED: All agents, by owner since") {
			t.Errorf("pending says %q", v.Text)
		}
		if _, page := g.Page("/metrics"); !strings.Contains(page, "verifier_paused 1\n") {
			t.Error("the metrics do not show the pause")
		}
		g.Reply(".resume")
		g.Allow(gateway.Sh("date -u", gateway.OwnerIn("x")))

		other := gateway.With(main, "sessionKey", "agent:other:main")
		unnamed := gateway.With(main, "sessionKey", "main")
		g.Reply(".pause Main")
		g.Reply(".pause third")
		for _, ctx := range []gateway.Context{main, gateway.With(main, "agentId", "MAIN", "sessionKey", "x"), unnamed} {
			paused(gateway.Sh("date", ctx))
		}
		g.Allow(gateway.Sh("date", other))
		g.Reply(".resume main")
		g.Allow(gateway.Sh("date", main))
		paused(gateway.Sh("date", unnamed)) // while any agent is paused
		g.Reply(".resume third")
		g.Allow(gateway.Sh("date", unnamed))
		g.Reply(".pause")
		if v := g.Reply(".resume main"); !strings.Contains(v.Text, "A pause of all agents still holds") {
			t.Errorf("told %+v", v)
		}
		paused(gateway.Sh("date", main))
		record := string(g.Recorded())
		for _, want := range []string{`"kind":"pause"`, `"kind":"resume"`, `"error":"paused"`} {
			if !strings.Contains(record, want) {
				t.Errorf("the record has no %s", want)
			}
		}
		if strings.Contains(record, "ghp_16C7") {
			t.Error("what a pause ended is recorded with its secrets")
		}
	})
}

// hello is what a runtime's plugin says of itself.
func hello(more string) gateway.Event {
	return gateway.Event{Name: "hello", About: `{"runtime":"OpenClaw","version":"0.1.0","instance":"i1","failMode":"deny"` + more + `}`}
}

func TestH167AHelloTellsNothingButItself(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	tried := func(wants ...string) {
		t.Helper()
		out, _ := g.Run("test", "--url", g.URL)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("`verifier test` lacks %q:\n%s", want, out)
			}
		}
		if strings.Contains(out, g.Token) {
			t.Errorf("it shows a secret:\n%s", out)
		}
	}
	tried("none    runtimes   no plugin has said hello")
	g.Takes(hello(`,"scope":"only exec"`))
	tried(": version 0.1.0, asks about only exec, failMode deny")
	g.Takes(hello(`,"off":true`))
	tried("is switched off (enabled: false): tool calls run unasked")
	m := gateway.OwnerIn("m")
	g.Allow(gateway.Fetch(m))
	e := hello("")
	e.Context = gateway.With(m, "trigger", "resume")
	g.Takes(e)
	g.Ask(gateway.Sh("date", m))
	g.Takes(gateway.Event{Name: "hello", About: `{"runtime":"OpenClaw","version":"1 ` + g.Token + `"}`})
	tried("version 1 ")
	for _, about := range []string{
		`{"runtime":"OpenClaw","version":"\u202eevil"}`, `{"runtime":"OpenClaw"}`, `{"runtime":"` + strings.Repeat("x", 300) + `","version":"1"}`,
	} {
		g.Refuses(gateway.Event{Name: "hello", About: about})
	}
	if got := g.By(strings.Repeat("0", 64)).Tell(hello("")); got.Status != http.StatusUnauthorized {
		t.Errorf("without the secret: %d %s", got.Status, got.Raw)
	}
}

// Times and limits hold from the next call on.
func TestAReloadChangesLimitsAndTimes(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, patient)
	old := read("a", gateway.OwnerIn("m"))
	old.At = time.Now().Add(-time.Minute)
	g.Allow(old)
	g.Reload("webhook: {hold: 1s, tolerance: 2s}\napproval: {maxMinutes: 7}\nlog: {level: debug}\n")
	a := g.Deny(gateway.Sh("ls", fetched(g, "x")))
	if a.Took > 20*time.Second {
		t.Errorf("the call was held for %s, want 1 s", a.Took)
	}
	if v := g.Approve(a.Ref, 99999); !strings.Contains(v.Text, "7 minutes is the most") {
		t.Errorf("the owner is told %+v", v)
	}
	old.ID = ""
	if a := g.Deny(old); !strings.Contains(a.Reason, "more than 2s off") {
		t.Errorf("an old call got %s", a.Raw)
	}
	if !strings.Contains(g.Log.String(), "log.level") {
		t.Errorf("the log does not say what changed:\n%s", g.Log)
	}
	rid := a.HTTPID
	eventually(t, "the log names the request", func() bool {
		return rid != "" && strings.Contains(g.Log.String(), "rid="+rid) && !strings.Contains(g.Log.String(), "command")
	})
}

// A yes for the same recipients covers no others, whatever else the call says.
func TestAYesForTheSameRecipients(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	m := gateway.With(gateway.OwnerIn("same"), "sessionId", "s1")
	send := func(to, text string) gateway.Call {
		params := fmt.Sprintf(`{"action":"send","target":%q,"text":%q}`, to, text)
		return gateway.Call{Tool: "message", Params: params, Context: m}
	}
	g.Allow(gateway.Fetch(m))
	g.Ask(send("+15550100", "three"))
	const to = `only to "action: send", "target: +15550100"`
	v := g.Reply(".approve message " + g.Waits().Code(t) + " same 15")
	if v.Kind != "counted" || !strings.Contains(v.Text, "to the same recipients for 15 minutes, "+to) {
		t.Fatalf("%+v", v)
	}
	g.Allow(send("+15550100", "three"))
	g.Restart()
	g.Allow(send("+15550100", "four"))
	if list := g.Reply(".grants"); !strings.Contains(list.Text, `"message" `+to) {
		t.Errorf("%s", list.Text)
	}
	const rest = `,"target":"+15550100","text":"x"`
	for _, other := range []gateway.Call{
		send("+15550199", "x"), send("+15550100", "the password: hunter2hunter2"),
		{Tool: "message", Params: `{"action":"send"` + rest + `,"bcc":"+15550199"}`, Context: m},
		{Tool: "message", Params: `{"action":"broadcast"` + rest + `}`, Context: m},
		{Tool: "message", Params: `{"action":"delete"` + rest + `}`, Context: m},
		{Tool: "send_email", Params: `{"action":"send"` + rest + `}`, Context: m},
		{Tool: "exec", Params: `{"command":"date > x"}`, Context: m},
	} {
		g.Refuse(g.Ask(other).Ref, "")
	}
	g.Allow(read("~/.ssh/id_rsa", m))
	g.Ask(send("+15550100", "six")) // it could carry them out
}
