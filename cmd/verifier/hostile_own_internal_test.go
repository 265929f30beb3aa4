package main

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
)

// ownSecrets are those that the gateway made for itself, by file.
func (r *rig) ownSecrets() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for _, name := range []string{"webhook.secret", "owner.token", "server.key", "record.key"} {
		text, err := os.ReadFile(filepath.Join(r.state.Dir(), name))
		if err != nil {
			r.t.Fatal(err)
		}
		out[name] = strings.TrimSpace(string(text))
	}
	return out
}

// carry sends a secret in all that a call may say.
func (p *planter) carry(secret string) {
	p.send(call{tool: "exec", params: `{"command":` + quoted("echo "+secret) + `,` + quoted(secret) + `:[{"deep":` + quoted(secret) + `}]}`, context: anew(true)})
	p.send(call{tool: "message", params: `{"action":"send","to":"x","message":` + quoted("it is "+secret) + `}`, context: anew(false)})
	p.send(call{tool: secret, context: anew(false)})
	p.send(call{tool: "exec", id: secret, context: anew(false)})
	ctx := with(anew(false), "agentId", secret, "runId", secret, "toolCallId", secret, "senderId", secret, "userMessages", []map[string]any{{"text": "use " + secret, "senderIsOwner": true}})
	p.send(call{tool: "exec", params: `{"command":"date"}`, context: ctx})
	ctx = anew(true)
	p.send(call{tool: "web_fetch", params: `{"url":` + quoted("https://example.com/"+secret) + `}`, context: ctx})
	p.send(impatient(sh("date", ctx)))
}

func TestH126OurOwnSecretsShowNowhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 1_000_000 })
	p := r.wire()
	p.trap = redacttest.Trap{}
	for name, secret := range r.ownSecrets() {
		p.trap.Plant(name, secret, storeFiles) // the store knows calls by their names, as they came
		p.carry(secret)
		for how, disguised := range redacttest.Disguises(secret) {
			p.send(call{tool: "exec", params: `{"command":` + quoted("echo "+disguised) + `,"how":` + quoted(how) + `}`, context: anew(false)})
		}
		octal := ""
		for _, c := range []byte(secret) {
			octal += fmt.Sprintf(`\%03o`, c)
		}
		p.send(call{tool: "exec", params: `{"command":` + quoted(`printf "`+octal+`"`) + `}`, context: anew(false)})
		if strings.Contains(r.screen.String()+r.record(), octal) {
			t.Errorf("%s is shown in octal", name)
		}
	}
	p.ask(http.MethodGet, "/owner/pending", nil, nil)
	for _, l := range p.scan(r.outputs()) {
		t.Error(l)
	}
}

// A secret that is changed by a reload is hidden from then on.
func TestH126ANewSecretIsHiddenAfterAReload(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	next := *r.cfg
	secret := hex.EncodeToString([]byte("a secret of ours"))
	next.OwnerToken = config.NewSecret(secret)
	if err := r.g.reload(&next, r.g.live.Load().guard); err != nil {
		t.Fatal(err)
	}
	r.send(call{tool: "exec", params: `{"command":` + quoted("echo "+secret) + `}`, context: ownerIn("m")})
	if strings.Contains(string(r.recorded()), secret) {
		t.Error("the new owner token is in the record")
	}
}

// inEachName sends calls that people are asked about, each with the secret in
// another of the strings that say where a call comes from.
func (r *rig) inEachName(secret string) {
	r.t.Helper()
	ask := func(pairs ...any) {
		r.send(call{tool: "exec", params: `{"command":"date"}`, context: with(anew(false), pairs...)})
	}
	ask("sessionKey", "agent:main:"+secret)
	ask("sessionKey", secret)
	ask("sessionKey", "agent:"+secret+":main", "agentId", secret)
	ask("sessionKey", secret, "agentId", secret)
	ask("sessionKey", nil, "agentId", secret)
	for _, name := range []string{"sessionId", "runId", "toolCallId", "senderId", "groupId", "channelId", "messageProvider", "trigger"} {
		ask(name, secret)
	}
	ask("senderId", secret, "messageProvider", "telegram")
	ask("senderId", "telegram:"+secret)
	ask("spawnedBy", "agent:main:"+secret)
	ask("userMessages", []map[string]any{{"text": "use " + secret, "senderIsOwner": true, "senderId": secret}})
	r.send(call{tool: secret, context: anew(false)})
	r.send(call{tool: "exec", id: secret, context: anew(false)})
	r.send(call{tool: "exec", params: `{` + quoted(secret) + `:` + quoted(secret) + `}`, context: anew(false)})
}

// read follows the links of a page whose address begins so, and returns all that
// stands there.
func (v *visit) read(page, links string) (all string) {
	v.t.Helper()
	seen := map[string]bool{}
	for _, path := range regexp.MustCompile(links+`[0-9A-Za-z]+`).FindAllString(page, -1) {
		if seen[path] {
			continue
		}
		seen[path] = true
		status, text := v.load(http.MethodGet, path, nil)
		if status != http.StatusOK {
			v.t.Errorf("%s: %d", path, status)
		}
		all += text
	}
	if len(seen) == 0 {
		v.t.Errorf("no link to %s", links)
	}
	return all
}

// What says where a call comes from is as foreign as its params.
func TestH126OurOwnSecretsInNamesShowNowhere(t *testing.T) {
	t.Parallel()
	chat := telegramtest.New(t, botToken)
	r := newRig(t, func(c *config.Config) {
		section(t, c, fmt.Sprintf(`
approvers: [{name: owner, telegram: 1001, ids: ["token:owner"]}]
channels: {telegram: {botToken: %q, chatId: 1001, apiUrl: %q}}
`, botToken, chat.URL()))
		c.Approval.MaxPromptsPerHour, c.Approval.MaxOpen = 1_000_000, 500
	})
	untilReady(t, r)
	v := r.visit()
	v.enter(r.loginLink())
	secrets := r.ownSecrets()
	for _, secret := range secrets {
		r.consented(call{tool: "exec", params: `{"command":"date"}`, context: with(unvouched(""), "sessionKey", "agent:"+secret+":"+secret, "agentId", secret, "runId", secret, "sessionId", secret)}, 5)
	}
	for _, secret := range secrets {
		r.inEachName(secret)
	}
	replies := ""
	for _, secret := range secrets {
		for _, line := range []string{".pause ", ".resume ", ".pause ", ".reset-trust ", ".sources ", ".revoke "} {
			replies += r.reply(line+secret).Text + "\n"
		}
	}
	places := r.outputs()
	places["replies"] = replies
	delete(places, storeFiles) // it knows calls by their names, as they came
	var pending output
	if code := run(t.Context(), []string{"pending", "--url", r.url, "--state", r.state.Dir()}, &pending, &pending); code != exitOK {
		t.Errorf("pending ended with %d", code)
	}
	places["pending"] = pending.String()
	for _, k := range r.pending() {
		places["details"] += k.Text
	}
	for _, line := range []string{".grants", ".status", ".pending"} {
		places[line] = r.reply(line).Text
	}
	for _, name := range []string{"", "grants", "history", "record", "record/export"} {
		_, places["page "+name] = v.load(http.MethodGet, "/page/"+name, nil)
	}
	places["cards"] = v.read(places["page "], "/page/cards/")
	if !strings.Contains(places["page grants"], "[REDACTED") || !strings.Contains(places["details"], "agent:main:[REDACTED") || !strings.Contains(places["pending"], "pending ") {
		t.Errorf("the grants page, the details or pending shows no card of these:\n%s\n%s\n%s", places["page grants"], places["details"], places["pending"])
	}
	for _, m := range chat.Messages() {
		places["chat"] += m.Text + "\n"
	}
	for where, text := range places {
		for name, secret := range secrets {
			if at := strings.Index(strings.ToLower(text), secret); at >= 0 {
				t.Errorf("%s stands in %s: …%s", name, where, text[max(0, at-160):min(len(text), at+80)])
			}
		}
	}
}
