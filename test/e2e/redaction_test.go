package e2e_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

const planted = "h40-5e1f9c03b7d24a86"

// hidden are calls with a secret in each place that H40 names, two levels down where it can be.
var hidden = map[string]gateway.Call{
	"edits": {Tool: "edit", Params: `{"path":"a","edits":[{"oldText":"x","newText":"db_password = '` +
		planted + `'"}]}`},
	"input": {Tool: "apply_patch", Params: `{"input":"*** Begin Patch\n+API_KEY=` + planted + `"}`},
	"patch": {Tool: "exec", Params: `{"steps":[{"patch":"+DB_PASSWORD=` + planted + `"}]}`},
	"contentBase64": {Tool: "file_write", Params: `{"path":"a","contentBase64":"` +
		base64.StdEncoding.EncodeToString([]byte("api_key="+planted)) + `"}`},
	"headers": {Tool: "exec", Params: `{"command":"curl -H 'Authorization: Bearer ` + planted +
		`' https://x.example","options":{"headers":{"X-Api-Key":"` + planted + `"}}}`},
	"KEY=value": {Tool: "exec", Params: `{"command":"DB_PASSWORD=` + planted + ` ./run","env":[["API_TOKEN=` +
		planted + `"]]}`},
	"URL": {Tool: "exec", Params: `{"command":"git clone https://bob:` + planted +
		`@github.com/a/b && curl 'https://x.example/?access_token=` + planted + `&b=1'"}`},
	"PEM": {Tool: "exec", Params: `{"command":"cat <<E\n-----BEGIN PRIVATE KEY-----\n` + planted +
		`\n-----END PRIVATE KEY-----\nE"}`},
}

func TestH40SecretsInACallAreMaskedOnCardRecordAndLog(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	for place, c := range hidden {
		c.Context = unvouched(place)
		if card := asked(g, c); !strings.Contains(card.Text, "[REDACTED: ") || strings.Contains(card.Text, planted) {
			t.Errorf("%s: the card shows\n%s", place, card.Text)
		}
	}
	if n := strings.Count(string(g.Recorded()), "[REDACTED: "); n < 2*len(hidden) {
		t.Errorf("%d masks in the record, want one for each question and each decision", n)
	}
	for where, text := range outputs(t, g) {
		if strings.Contains(text, planted) {
			t.Errorf("the %s shows the secret", where)
		}
	}
}

func TestH41ARedactedCallIsNotFullyVisibleAndGetsNoLastingGrant(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	c := gateway.Sh("curl -u bob:"+planted+" https://x.example", unvouched("x"))
	held := g.Hold(c)
	card := g.Waits()
	if !strings.Contains(card.Text, "NOT FULLY VISIBLE: 1 value is hidden") {
		t.Errorf("the card does not say that something is hidden:\n%s", card.Text)
	}
	if v := g.Approve(card.Ref, 30); v.Kind != "counted" || !strings.Contains(v.Text, "this call only") {
		t.Errorf("thirty minutes were asked for, and the owner is told %+v", v)
	}
	if a := <-held; !a.Allowed() {
		t.Errorf("the call itself got %s", a.Raw)
	}
	g.Ask(c)
	g.Ask(gateway.Sh("date", unvouched("x"))) // nor is there a grant for what can be seen
}

// What is written to a file is on the card and not in the record (H183), whatever the param is called (H211).
func TestH183WhatIsWrittenIsOnTheCardAndNotInTheRecord(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	const body = "h183-body"
	for i, c := range []gateway.Call{
		{Tool: "write", Params: `{"path":"a.py","content":"` + body + `"}`},
		{Tool: "write", Params: `{"path":"a.py","contents":"` + body + `"}`},
		{Tool: "edit", Params: `{"path":"a.py","edits":[{"oldText":"` + body + `","newText":"more"}]}`},
		{Tool: "Edit", Params: `{"file_path":"a.py","old_string":"` + body + `","new_string":"x"}`},
		{Tool: "apply_patch", Params: `{"input":"*** Begin Patch\n*** Update File: a.py\n-` + body +
			`\n*** End Patch"}`},
		{Tool: "NotebookEdit", Params: `{"notebook_path":"a.ipynb","new_source":"` + body + `"}`},
		{Tool: "mcp__filesystem__write_file", Params: `{"path":"a.py","body":"` + body + `"}`},
	} {
		c.Context = unvouched(fmt.Sprint("w", i))
		if card := asked(g, c); !strings.Contains(card.Text, body) {
			t.Errorf("%s: the card does not show what is written:\n%s", c.Tool, card.Text)
		}
	}
	asked(g, gateway.Call{Tool: "send_note", Params: `{"to":"bob","text":"h211-note"}`, Context: unvouched("note")})
	if text := string(g.Recorded()); strings.Contains(text, body) || !strings.Contains(text, "a.ipynb") ||
		!strings.Contains(text, "h211-note") {
		t.Error("the record holds what was written, or does not say which file, or not what was sent")
	}
}

// outputs are all that a gateway has written and answers to anyone.
func outputs(t *testing.T, g *gateway.Gateway) map[string]string {
	t.Helper()
	_, metrics := g.Page("/metrics")
	_, ready := g.Page("/readyz")
	_, page := g.Page("/page/")
	out := map[string]string{"log": g.Log.String(), "screen": g.Screen.String(), "metrics": metrics, "health": ready,
		"page without a login": page}
	err := filepath.WalkDir(g.State.Dir(), func(path string, d os.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && !d.IsDir() && (strings.HasPrefix(name, "record-") || strings.Contains(name, ".db")) {
			text, err := os.ReadFile(path)
			if strings.Contains(name, ".db") {
				name = storeFiles
			}
			out[name] += string(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	storeFiles = "store"
	toOwner    = "answers to the owner"
)

// TestH29NoCanaryInAnyOutput plants secrets of every kind, each once, in all that comes in, and looks for them, in
// every disguise, in all that comes out. The store knows a call by its names, as they came, and the owner's answers
// show codes.
func TestH29NoCanaryInAnyOutput(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, "approval: {maxPromptsPerHour: 1000}\nlog: {level: debug}\n",
		func(t *testing.T, g *gateway.Gateway) {
			p := &planter{t: t, g: g}
			key, err := g.State.ServerKey()
			if err != nil {
				t.Fatal(err)
			}
			p.trap.Plant("the webhook secret", g.Secret)
			p.trap.Plant("the owner token", g.Token)
			p.trap.Plant("the server key", string(key))
			p.trap.Plant("the server key in hex", hex.EncodeToString(key))
			for kind := range redacttest.Canaries() {
				p.inCalls(kind)
				p.inWhatIsNone(kind)
			}
			for _, own := range []string{g.Secret, g.Token, hex.EncodeToString(key)} { // H126: in what a call says
				for _, disguised := range redacttest.Disguises(own) {
					p.sends(run("echo "+disguised, unvouched(p.session())))
				}
			}
			p.inAnswers()
			if out, code := g.Run("audit", "show"); code == 0 {
				p.public.WriteString(out)
			}
			all := outputs(t, g)
			all["answers"], all[toOwner] = p.public.String(), p.owner.String()
			if g.Redis != nil {
				delete(all, storeFiles)
			}
			for i, leak := range p.trap.Scan(all) {
				if i == 40 {
					t.Fatal("and more")
				}
				t.Error(leak)
			}
			t.Logf("%d canaries were planted", p.trap.Planted())
		})
}

// TestH29TheScanSeesALeak shows that the scan can fail.
func TestH29TheScanSeesALeak(t *testing.T) {
	t.Parallel()
	var trap redacttest.Trap
	trap.Plant("a code", "7f3a9c51")
	if leaks := trap.Scan(map[string]string{"log": "sent " + hex.EncodeToString([]byte("7f3a9c51"))}); len(leaks) != 1 {
		t.Errorf("the scan saw %v", leaks)
	}
}

// planter sends what holds a canary, and keeps every answer.
type planter struct {
	t             *testing.T
	g             *gateway.Gateway
	trap          redacttest.Trap
	seed          uint64
	public, owner strings.Builder
}

func (p *planter) session() string { p.seed++; return fmt.Sprint("c", p.seed) }

// text plants a canary of a kind, and gives the text that shows it.
func (p *planter) text(kind int, place string, allowed ...string) string {
	p.seed++
	all := redacttest.Seeded(p.seed)
	c := all[kind%len(all)]
	p.trap.Plant(c.Name+" "+place, c.Secret, allowed...)
	return c.Texts[0]
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func (p *planter) sends(c gateway.Call) {
	p.public.WriteString(p.g.Send(gateway.Impatient(c)).Raw + "\n")
}

func (p *planter) inCalls(kind int) {
	exec := func(params string, ctx gateway.Context) {
		p.sends(gateway.Call{Tool: "exec", Params: params, Context: ctx})
	}
	exec(`{"command":`+quoted("echo "+p.text(kind, "in a command"))+`,"deep":[{"x":`+quoted(p.text(kind,
		"deep in params"))+`}]}`, unvouched(p.session()))
	p.sends(gateway.Call{Tool: "read", Params: `{"path":` + quoted("/tmp/"+p.text(kind, "in a path")) + `}`,
		Context: gateway.OwnerIn(p.session())})
	p.sends(gateway.Call{Tool: p.text(kind, "in a tool's name", storeFiles), Context: unvouched(p.session())})
	ctx := gateway.Context{"agentId": p.text(kind, "in context.agentId", storeFiles)}
	for _, m := range []string{"sessionKey", "sessionId", "runId", "toolCallId", "channelId", "senderId", "groupId",
		"spawnedBy", "trigger", "inputProvenance", "messageProvider"} {
		ctx[m] = p.text(kind, "in context."+m, storeFiles)
	}
	ctx["userMessages"] = []map[string]any{{"text": p.text(kind, "in the owner's message"), "senderIsOwner": true}}
	ctx["somethingNew"] = map[string]any{"deep": p.text(kind, "in an unknown member")}
	exec(`{"command":"date"}`, ctx)
	tainted := gateway.OwnerIn(p.session())
	p.sends(gateway.Call{Tool: "web_fetch", Params: `{"url":` +
		quoted("https://"+p.text(kind, "in a host")+".example/x") + `}`, Context: tainted})
	exec(`{"command":"date"}`, tainted) // the card says why
	told := p.g.Tell(gateway.Returned(tainted, "exec", `,"result":`+quoted(p.text(kind, "in what a tool returned"))))
	p.public.WriteString(told.Raw + "\n")
}

func (p *planter) inWhatIsNone(kind int) {
	for i, shape := range []string{`%s`, `{"version":1,%s`, `{%[2]s:1}`,
		`{"version":1,"requestId":%[2]s,"timestamp":"2020-01-01T00:00:00Z",` +
			`"tool":{"name":%[2]s,"params":{"x":%[2]s}}}`} {
		text := p.text(kind, fmt.Sprint("in broken body ", i))
		body := fmt.Appendf(nil, shape, text, quoted(text))
		p.public.WriteString(p.g.Post(body, p.g.Sign(body)).Raw + "\n")
	}
	header := func(place string) string { return strings.ReplaceAll(p.text(kind, place), "\n", " ") }
	for _, name := range []string{hmac.RequestHeader, "Cookie", "User-Agent", "X-Request-Id", "X-Forwarded-For",
		"Referer", "Origin", "Authorization"} {
		_, text := p.g.Request(http.MethodPost, "/verify", []byte("{}"), name, header("in the header "+name))
		p.public.WriteString(text)
	}
	_, text := p.g.Request(http.MethodGet, "/owner/"+redacttest.Disguises(p.text(kind,
		"in a path of ours"))["percent"], nil)
	p.public.WriteString(text)
}

// inAnswers plants in what the owner says, on the cards that wait; their codes may show before the owner and nowhere
// else.
func (p *planter) inAnswers() {
	cards := p.g.Pending()
	for kind := range redacttest.Canaries() {
		if kind >= len(cards) {
			break
		}
		code := cards[kind].Code(p.t)
		p.trap.Plant("the code of "+cards[kind].Ref, code, toOwner)
		reason := strings.ReplaceAll(p.text(kind, "in a deny's reason"), "\n", " ")
		for _, v := range []gateway.Verdict{
			p.g.Reply(".deny " + code + " because " + strings.ToUpper(code) + " " + reason),
			p.g.Reply(p.text(kind, "in a typed line")),
			p.g.Refuse(p.text(kind, "in a reference"), "no"),
		} {
			p.owner.WriteString(v.Text + "\n")
		}
	}
}

// The code in a deny's reason does not come back to the agent, in any case.
func TestH29TheCodeInADenysReasonIsHidden(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	held := g.Hold(gateway.Sh("ls", unvouched("x")))
	code := g.Waits().Code(t)
	g.Reply(".deny " + code + " no İ " + strings.ToUpper(code) + " and " + code)
	if a := <-held; strings.Contains(strings.ToLower(a.Raw), code) {
		t.Errorf("got %s", a.Raw)
	}
}

// A secret in the config shows in no error about it, at a check nor at a reload; a new token is hidden at once (H126).
func TestH29ABrokenConfigShowsNoSecret(t *testing.T) {
	t.Parallel()
	const secret, token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "9c0de5e1f03b7d24a86cafe12345678b"
	good := "ownerToken: " + secret + "\nwebhook: {hold: 5s, bearer: cfg-brr-7be2690cd15f4a3c8877}\n"
	g := gateway.Start(t, good)
	var said strings.Builder
	for _, broken := range []string{
		good + secret + ": 1\n", good + "webhok: {secret: " + secret + "}\n", good + "profile: " + secret + "\n",
		good + "\t" + secret + "\n",
		good + "ownerToken: " + secret + "\n", strings.Replace(good, "hold: 5s", "hold: "+secret, 1),
		good + "store: {url: 'http://u:" + secret + "@h/0'}\n",
	} {
		printed, code := program(t, broken, "check")
		if code == 0 {
			t.Errorf("taken:\n%s", broken)
		}
		said.WriteString(printed)
		g.Reload(broken)
	}
	g.Reload("ownerToken: " + token + "\nwebhook: {hold: 5s}\n")
	g.Send(gateway.Sh("echo "+token, gateway.OwnerIn("m")))
	for where, text := range map[string]string{"check": said.String(), "log": g.Log.String(),
		"record": string(g.Recorded())} {
		if strings.Contains(text, secret) || strings.Contains(text, token) {
			t.Errorf("the %s shows a secret", where)
		}
	}
}
