package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/terminal"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// TestH29NoCanaryInAnyOutput plants a canary of every kind in every place where
// a text can come in, and scans all that comes out, in every form.
func TestH29NoCanaryInAnyOutput(t *testing.T) {
	t.Parallel()
	secretive := func(c *config.Config) {
		c.Webhook.Secret, c.Webhook.Bearer = config.NewSecret("cfg-sgn-0f5c1d7e93ab42868e14"), config.NewSecret("cfg-brr-7be2690cd15f4a3c8877")
		c.OwnerToken, c.Store.Key = config.NewSecret("cfg-own-51d08fa6c2e94b71b3aa"), config.NewSecret("cfg-key-9a6e3c1f08d7425bb2640f5c1d7e93ab")
		c.Webhook.Hold, c.Approval.MaxPromptsPerHour = time.Millisecond, 1_000_000
	}
	onBoth(t, secretive, func(t *testing.T, r *rig) {
		p := r.wire()
		p.inParams()
		p.inNames()
		p.inBodiesThatAreNone()
		p.inRequestsThatAreNone()
		p.inEvents()
		p.inAnswers()
		leaks := p.scan(r.outputs())
		for i, l := range leaks {
			if i == 40 {
				t.Fatalf("and %d more", len(leaks)-i)
			}
			t.Error(l)
		}
		t.Logf("%d canaries were planted", p.trap.Planted())
	})
}

// TestH29TheScanSeesALeak shows that the scan can fail: a channel that tells the
// log a code, in hex, is caught.
func TestH29TheScanSeesALeak(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.quit()
	r.channels = map[string]approval.Channel{"tattler": tattler{terminal.New(r.screen), r.log}}
	r.start()
	p := r.wire()
	p.send(impatient(sh("date", unvouched("x"))))
	ref := p.cards()[0].Ref
	redistest.Eventually(t, "the card is on the screen", func() bool { return strings.Contains(r.screen.String(), ref) })
	leaks := p.scan(r.outputs())
	if len(leaks) != 1 || leaks[0].What != "the code of "+ref || leaks[0].Output != "log" || leaks[0].Form != "hex" {
		t.Errorf("the scan saw %v", leaks)
	}
}

var sessions atomic.Int64

// anew is the context of a call in a session of its own. No answer is waited for.
func anew(owner bool) map[string]any {
	name := fmt.Sprint("c", sessions.Add(1))
	if owner {
		return with(ownerIn(name), "waitMs", 1)
	}
	return with(unvouched(name), "waitMs", 1)
}

// inParams plants in the arguments of a call, at any depth: asked about, and
// allowed by its level.
func (p *planter) inParams() {
	for kind, c := range redacttest.Canaries() {
		for i, tool := range []string{"exec", "read"} {
			var members []string
			for n := range c.Texts {
				places := redacttest.Placements("x")
				at := (n + kind + i) % len(places)
				text := p.text(kind, n, "in params, "+places[at].Name)
				members = append(members, fmt.Sprintf("%q:%s", fmt.Sprint("p", n), redacttest.Placements(text)[at].Params))
			}
			p.send(call{tool: tool, params: "{" + strings.Join(members, ",") + "}", context: anew(i == 1)})
		}
		var disguised []string
		for disguise := range redacttest.Disguises("x") {
			text := p.text(kind, 0, "in params, "+disguise)
			disguised = append(disguised, quoted(redacttest.Disguises(text)[disguise]))
		}
		p.send(call{tool: "exec", params: `{"command":"date","list":[` + strings.Join(disguised, ",") + `]}`, context: anew(false)})
	}
	var fields []string
	for i := range redacttest.Fields("x") {
		p.seed++
		secret := redacttest.Seeded(p.seed)[0].Secret
		f := redacttest.Fields(secret)[i]
		var allowed []string
		if f.Name == "file body" || f.Name == "edits" { // cards show what is written, as far as nothing in it looks secret
			allowed = []string{ownersScreen, ownersAnswers, storeFiles}
		}
		p.trap.Plant("a bare secret in params, "+f.Name, secret, allowed...)
		fields = append(fields, f.Params)
	}
	p.send(call{tool: "edit", params: `{"list":[` + strings.Join(fields, ",") + `]}`, context: anew(false)})
}

// inNames plants in all that names a call. The store needs most of these names
// to know a conversation again; nobody else does.
func (p *planter) inNames() {
	members := []string{"sessionKey", "sessionId", "runId", "toolCallId", "channelId", "accountId", "senderId", "groupId", "spawnedBy", "trigger", "inputProvenance", "messageProvider"}
	for kind := range redacttest.Canaries() {
		p.send(call{tool: p.text(kind, 0, "in the tool's name", storeFiles), context: anew(false)})
		p.send(call{tool: "exec", id: p.text(kind, 0, "in the request id", storeFiles), context: anew(false)})
		ctx := map[string]any{"agentId": p.text(kind, 0, "in context.agentId", storeFiles), "waitMs": 1}
		for _, m := range members {
			ctx[m] = p.text(kind, 0, "in context."+m, storeFiles)
		}
		ctx["userMessages"] = []map[string]any{
			{"text": p.text(kind, 0, "in the owner's message"), "senderIsOwner": true, "senderId": p.text(kind, 0, "in a message's sender"), "at": p.text(kind, 0, "in a message's time")},
			{"text": p.text(kind, 0, "in a stranger's message"), "senderId": "7"},
		}
		ctx["somethingNew"] = map[string]any{"deep": []string{p.text(kind, 0, "in an unknown member")}}
		p.send(call{tool: "exec", params: `{"command":"date"}`, context: ctx})
		alone := map[string]any{"sessionKey": p.text(kind, 0, "in a session key alone", storeFiles), "senderId": "1", "senderIsOwner": true}
		p.send(call{tool: "read", params: `{"path":` + quoted("/tmp/"+p.text(kind, 0, "in the name of a file")) + `}`, context: alone})
		p.send(impatient(sh("date", alone)))
		p.tainted(kind)
	}
}

// tainted plants in what a source is remembered by, and asks on a card why a
// later call has to wait.
func (p *planter) tainted(kind int) {
	ctx := anew(true)
	p.send(call{tool: "web_fetch", params: `{"url":` + quoted("https://"+p.text(kind, 0, "in a host")+".example/x") + `}`, context: ctx})
	p.send(call{tool: "read", params: `{"path":` + quoted(p.text(kind, 0, "in a file that taints")) + `}`, context: ctx})
	p.send(call{tool: p.text(kind, 0, "in the name of a tool that taints", storeFiles), context: ctx})
	p.send(impatient(sh("date", ctx)))
}

// inBodiesThatAreNone plants in signed bodies that are no call.
func (p *planter) inBodiesThatAreNone() {
	for kind := range redacttest.Canaries() {
		for i, shape := range []string{
			`%s`, `{"version":1,%s`, `{"version":1,"tool":{"name":%[2]s,"name":%[2]s}}`, `{%[2]s:1}`, `{"version":%[2]s}`, `{"version":1,"requestId":"r","timestamp":%[2]s,"tool":{"name":"exec","params":{}},"context":{}}`,
			`{"version":1,"requestId":%[2]s,"timestamp":"2020-01-01T00:00:00Z","tool":{"name":%[2]s,"params":{"password":%[2]s}},"context":{"sessionKey":%[2]s}}`,
			`{"version":1,"requestId":"r","timestamp":"2020-01-01T00:00:00Z","tool":{"name":"exec","params":%[2]s},"context":{"agentId":%[2]s,"sessionKey":"agent:other:main"}}`,
		} {
			text := p.text(kind, 0, fmt.Sprint("in broken body ", i))
			p.raw(fmt.Appendf(nil, shape, text, quoted(text)))
		}
	}
}

// inRequestsThatAreNone plants in what comes with a request and is not signed.
func (p *planter) inRequestsThatAreNone() {
	body := call{tool: "exec"}.body()
	for kind := range redacttest.Canaries() {
		header := func(place string) string { return strings.ReplaceAll(p.text(kind, 0, place), "\n", " ") }
		p.do(&p.answers, http.MethodPost, "/verify", body, hmac.RequestHeader, header("in the signature"))
		p.do(&p.answers, http.MethodPost, "/verify", body, "Authorization", "Bearer "+header("in a wrong bearer"))
		p.do(&p.answers, http.MethodPost, "/verify", []byte(p.text(kind, 0, "in an unsigned body")))
		p.do(&p.answers, http.MethodGet, "/owner/pending", nil, "Authorization", "Bearer "+header("in a wrong token"))
		for _, name := range []string{"Cookie", "User-Agent", "X-Request-Id", "X-Forwarded-For", "Referer", "Origin", "Accept"} {
			p.do(&p.answers, http.MethodGet, "/readyz", nil, name, header("in the header "+name))
		}
		escaped := redacttest.Disguises(p.text(kind, 0, "in a path"))["percent"]
		p.do(&p.answers, http.MethodGet, "/owner/"+escaped, nil)
		p.do(&p.answers, http.MethodGet, "/"+escaped, nil)
		p.do(&p.answers, http.MethodPost, "/verify?token="+redacttest.Disguises(p.text(kind, 0, "in a query"))["percent"], body)
	}
}

// inAnswers plants in what the owner says, on the cards that wait.
func (p *planter) inAnswers() {
	cards := p.cards()
	if len(cards) < 2*kinds() {
		p.t.Fatalf("%d cards wait, fewer than there are things to say", len(cards))
	}
	for kind := range redacttest.Canaries() {
		reason := strings.ReplaceAll(p.text(kind, 0, "in a deny's reason"), "\n", " ")
		p.ask(http.MethodPost, "/owner/answer", map[string]any{"ref": cards[2*kind].Ref, "allow": false, "reason": reason}, nil)
		code := cards[2*kind+1].code(p.t)
		typed := strings.ReplaceAll(p.text(kind, 0, "in a typed deny"), "\n", " ")
		p.ask(http.MethodPost, "/owner/reply", map[string]string{"text": ".deny " + code + " because " + strings.ToUpper(code) + " " + typed}, nil)
		p.ask(http.MethodPost, "/owner/reply", map[string]string{"text": p.text(kind, 0, "in a typed line")}, nil)
		p.ask(http.MethodPost, "/owner/answer", map[string]any{"ref": p.text(kind, 0, "in a reference"), "allow": true}, nil)
		p.ask(http.MethodPost, "/owner/answer", map[string]any{p.text(kind, 0, "in an answer's member"): 1}, nil)
	}
	for _, c := range cards[2*kinds() : min(len(cards), 2*kinds()+20)] {
		p.ask(http.MethodPost, "/owner/answer", map[string]any{"ref": c.Ref, "allow": true, "minutes": 5}, nil)
	}
	for i := range 6 {
		p.ask(http.MethodPost, "/owner/reply", map[string]string{"text": ".approve exec " + fmt.Sprintf("%08x", i)}, nil)
	}
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can't fail
	}
	return string(text)
}
