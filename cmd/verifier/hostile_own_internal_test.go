package main

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
