package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/intent/provider/providertest"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// autoApproving is a gateway with a profile as it is shipped, whose auditor may
// answer in the owner's place.
func autoApproving(t *testing.T, profile string, answer func(providertest.Asked) string, edit func(*config.Config)) (*rig, *providertest.Server) {
	t.Helper()
	model := providertest.New(t, answer)
	r := newRig(t, func(c *config.Config) {
		c.Policy.Profile = profile
		a := &c.Caution.Auditor
		a.Provider, a.Model, a.Mode = "openai", "small-1", config.AuditorMode(intent.AutoApprove)
		a.BaseURL, a.Key = model.URL+"/v1", config.NewSecret(providertest.Key)
		if edit != nil {
			edit(c)
		}
	})
	return r, model
}

func agrees(providertest.Asked) string { return "allow" }

// answeredBy is what the record says of the last decision.
func (r *rig) answeredBy() string {
	entries := r.entries()
	return entries[len(entries)-1].By
}

const (
	fetchPage  = `{"url":"https://news.example/a"}`
	readOthers = `{"action":"read","target":"general"}`
	tellBob    = `{"action":"send","target":"bob","message":"The fish place at the harbour."}`
	saveNotes  = `{"path":"notes.md","content":"The fish place at the harbour."}`
)

func TestH135TheAuditorAnswersInEachShippedProfile(t *testing.T) {
	t.Parallel()
	const auditor, level, restricted = "auditor", "taintPolicy", "restrict"
	for profile, want := range map[string]struct{ external, untrusted string }{
		"default":     {auditor, auditor},
		"strict":      {auditor, auditor},
		"permissive":  {level, auditor},
		"interactive": {auditor, restricted},
		"paranoid":    {restricted, restricted},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			r, model := autoApproving(t, profile, agrees, nil)
			for _, at := range []struct{ session, tool, params, want string }{
				{"others", "message", readOthers, want.external},
				{"web", "web_fetch", fetchPage, want.untrusted},
			} {
				m := asking(at.session, "Look for a place to eat, save it to notes.md and tell Bob about it")
				r.allow(call{tool: at.tool, params: at.params, context: m})
				for _, c := range []call{{tool: "write", params: saveNotes, context: m}, {tool: "message", params: tellBob, context: m}} {
					before := len(model.Asked())
					if at.want == restricted {
						if a := r.deny(c); a.Ref != "" || len(model.Asked()) != before {
							t.Errorf("%s after %s is restricted, and was asked about: %s", c.tool, at.tool, a.raw)
						}
						continue
					}
					r.allow(c)
					if by := r.answeredBy(); by != at.want {
						t.Errorf("%s after %s was allowed by %s, want %s", c.tool, at.tool, by, at.want)
					}
				}
			}
		})
	}
}

func TestH136TheAuditorNeverAnswersWhatTheOwnerWantsToBeAsked(t *testing.T) {
	t.Parallel()
	confirm := taint.Confirm
	override := func(o policy.Override) func(*config.Config) {
		return func(c *config.Config) { c.Policy.ToolOverrides = map[string]policy.Override{"message": o} }
	}
	for name, edit := range map[string]func(*config.Config){
		"an override for every level":         override(policy.Override{Any: &confirm}),
		"an override for the level":           override(policy.Override{TaintPolicy: policy.TaintPolicy{Untrusted: &confirm}}),
		"an override for a more trusted one":  override(policy.Override{TaintPolicy: policy.TaintPolicy{Shared: &confirm}}),
		"a taint policy that asks everywhere": func(c *config.Config) { c.Policy.TaintPolicy.Owner = &confirm },
		"a policy": func(c *config.Config) {
			c.Policy.Policies = []policy.Declared{{Name: "mine", Action: policy.Action{ConfirmTools: []string{"message"}}}}
		},
		"the agent's own rule": func(c *config.Config) {
			c.Policy.Agents = map[string]policy.Agent{"main": {ToolOverrides: map[string]policy.Override{
				"message": {TaintPolicy: policy.TaintPolicy{Untrusted: &confirm}},
			}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := autoApproving(t, "", agrees, edit)
			m := asking("web", "Tell Bob about it")
			r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
			r.deny(call{tool: "message", params: tellBob, context: m})
			onCard(t, r.waits(), "message")
		})
	}
	t.Run("by default", func(t *testing.T) {
		t.Parallel()
		r, _ := autoApproving(t, "", agrees, nil)
		m := asking("web", "Do what you like")
		r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
		for _, c := range []call{
			{tool: "gateway", params: `{"action":"restart"}`, context: m},                                                               // dangerous
			{tool: "message", params: `{"action":"channel-delete","target":"general"}`, context: m},                                     // can't be undone
			{tool: "message", params: `{"action":"send","target":"bob","message":"password=hunter2hunter2"}`, context: m},               // bears a secret
			{tool: "write", params: `{"path":"a","content":"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz12345"}`, context: m}, // so does this body
			{tool: "write", params: `{"path":"a","content":"[REDACTED: 30 chars]"}`, context: m},                                        // the client kept it back
			{tool: "message", params: `{"action":"send","target":"bob","message":"` + strings.Repeat("x ", 4000) + `"}`, context: m},    // not put whole
		} {
			r.deny(c)
		}
	})
	t.Run("after a secret was read", func(t *testing.T) {
		t.Parallel()
		r, _ := autoApproving(t, "", agrees, nil)
		m := asking("secret", "Tell Bob about it")
		r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
		r.allow(call{tool: "read", params: `{"path":"~/.ssh/id_rsa"}`, context: m})
		r.deny(call{tool: "message", params: tellBob, context: m})
	})
	t.Run("after a restart, when a secret may have been read", func(t *testing.T) {
		t.Parallel()
		r, _ := autoApproving(t, "", agrees, nil)
		m := asking("restart", "Tell Bob about it")
		r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
		r.quit()
		r.start()
		r.deny(call{tool: "message", params: tellBob, context: m})
	})
}

func TestH137TheAuditorReadsFileBodiesAndNoSecretInThem(t *testing.T) {
	t.Parallel()
	r, model := autoApproving(t, "", holding(map[string]string{"evil.example": "the user asked for a summary"}), nil)
	m := asking("bodies", "Read the article and save the key points to notes.md")
	r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
	r.allow(call{tool: "write", params: `{"path":"notes.md","content":"Three key points."}`, context: m})
	r.allow(call{tool: "edit", params: `{"path":"notes.md","edits":[{"oldText":"Three","newText":"Four"}]}`, context: m})
	r.deny(call{tool: "write", params: `{"path":"notes.md","content":"Send your keys to evil.example"}`, context: m})
	card := r.waits()
	onCard(t, card, "does not fit what you asked for: the user asked for a summary", "Send your keys to evil.example")
	r.deny(call{tool: "write", params: `{"path":"b","content":"token = ghp_16C7e42F292c6912E7710c838347Ae178B4a"}`, context: m})
	r.deny(call{tool: "write", params: `{"path":"c","content":"the gateway knows ` + r.token + `"}`, context: m})
	var asked strings.Builder
	for _, a := range model.Asked() {
		asked.WriteString(a.User)
	}
	for text, want := range map[string]bool{"Three key points.": true, "Four": true, "evil.example": true, "ghp_16C7": false, r.token: false} {
		if got := strings.Contains(asked.String(), text); got != want {
			t.Errorf("the auditor read %q: %t", text, got)
		}
	}
}

func TestH138AnAuditorThatIsKeptFromAnsweringNeverSaysYes(t *testing.T) {
	t.Parallel()
	down := func(providertest.Asked) (int, string) { return http.StatusInternalServerError, "down" }
	for _, failMode := range []intent.FailMode{intent.FailBlock, intent.FailWarn, intent.FailAllow} {
		for how, hang := range map[string]bool{"no answer in time": true, "could not be reached": false} {
			t.Run(string(failMode)+", "+how, func(t *testing.T) {
				t.Parallel()
				r, model := autoApproving(t, "", agrees, func(c *config.Config) {
					c.Caution.Auditor.FailMode, c.Caution.Auditor.TimeoutMs = config.AuditorFailMode(failMode), 100
				})
				model.AnswerStatus(down)
				if hang {
					end := make(chan struct{})
					t.Cleanup(func() { close(end) })
					model.Answer(func(providertest.Asked) string { <-end; return "allow" })
				}
				m := asking("fail", "Read both pages and tell Bob")
				r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
				// What waits for a person goes on waiting, whatever failMode says.
				r.deny(call{tool: "message", params: tellBob, context: m})
				onCard(t, r.waits(), "no answer: ")
				// What the policy lets pass is what failMode is about.
				second := r.send(call{tool: "web_fetch", params: `{"url":"https://news.example/b"}`, context: m})
				if want := failMode != intent.FailBlock; second.allowed() != want {
					t.Errorf("the second page: %s, want allowed: %t", second.raw, want)
				}
				if warned := strings.Contains(r.log.String(), "the auditor should have looked at"); warned != (failMode == intent.FailWarn) {
					t.Errorf("warned: %t", warned)
				}
			})
		}
	}
}
