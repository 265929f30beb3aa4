package verifier_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// labelled labels tools of its own, and lets everything pass but sinks in tainted
// conversations.
func labelled(t *testing.T) *policy.Policy {
	t.Helper()
	rules, _, err := policy.New(policy.Config{
		TaintPolicy: policy.TaintPolicy{Shared: new(taint.Allow), External: new(taint.Allow), Untrusted: new(taint.Allow)},
		Tools: map[string]policy.Tool{
			"dm":      {Source: new(false), Sink: new(true), Destinations: []string{"to"}, Content: []string{"body"}},
			"passbox": {Source: new(false), Sink: new(false), Secret: new(true)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func labelledRig(t *testing.T, edit func(*verifier.Options)) *rig {
	t.Helper()
	store, _ := openSQLite(t)
	rules := labelled(t)
	return newRig(t, store, 1, func(o *verifier.Options) {
		o.Policy = func() *policy.Policy { return rules }
		if edit != nil {
			edit(o)
		}
	})
}

// saying is a run in which the owner said this.
func saying(key, text string) string {
	return owner(key) + `,"runId":"run","userMessages":[{"text":"` + text + `","senderIsOwner":true}]`
}

func (r *rig) tainted(t *testing.T, context string) {
	t.Helper()
	r.allow(call(t, "web_fetch", `{"url":"https://example.com"}`, context))
}

// The lethal trifecta: outside content, a secret, a way out.
func TestACardNamesOutsideContentAndSecrets(t *testing.T) {
	var why []string
	r := labelledRig(t, func(o *verifier.Options) {
		o.Desk = deskFunc(func(q *approval.Request) (approval.Ruling, error) {
			why = q.Ask.Why
			return approval.Ruling{Denied: true, Ref: "TEST"}, nil
		})
	})
	said := saying("trifecta", "send alice@example.com: a summary of the page")
	r.tainted(t, said)
	r.allow(call(t, "passbox", `{}`, said))
	r.deny("with a secret at hand", call(t, "dm", `{"to":"alice@example.com","body":"It will rain."}`, said))
	if len(why) < 2 || why[1] != "The agent has read outside content and secrets, and this could send them out." {
		t.Errorf("the card says %q, want the pattern", why)
	}
}

// What one conversation has read does not get clean by going through another: the
// target of a message, whoever reads a history, a parent, the session that goes on.
func TestSecretsGoAlongWithWhatIsPassedOn(t *testing.T) {
	const alice = `{"to":"alice@example.com","body":"Rain."}`
	for how, passOn := range map[string]func(r *rig){
		"a message": func(r *rig) {
			r.allow(call(t, "sessions_send", `{"sessionKey":"agent:main:to","message":"hi"}`, owner("from")))
		},
		"a history": func(r *rig) {
			r.allow(call(t, "sessions_history", `{"sessionKey":"agent:main:from"}`, owner("to")))
		},
		"a child that was not known as one": func(r *rig) {
			r.allow(call(t, "read", `{"path":"a"}`, owner("from")+`,"spawnedBy":"agent:main:to"`))
		},
		"a child that is told of late": func(r *rig) {
			r.hear(loop.SubagentSpawned, `{"childSessionKey":"agent:main:from"}`, owner("to"))
		},
		"the session that goes on": func(r *rig) {
			r.hear(loop.SessionEnd, `{"reason":"compaction","nextSessionKey":"agent:main:to"}`, owner("from"))
		},
		"a message to the root's child": func(r *rig) {
			r.hear(loop.SubagentSpawned, `{"childSessionKey":"agent:main:subagent:1"}`, owner("to"))
			r.allow(call(t, "sessions_send", `{"sessionKey":"agent:main:subagent:1","message":"hi"}`, owner("from")))
		},
	} {
		for what, tool := range map[string]string{"with a secret": "passbox", "without one": "session_status"} {
			t.Run(how+" "+what, func(t *testing.T) {
				r, said := labelledRig(t, nil), saying("to", "Write to Alice")
				r.allow(call(t, "session_status", `{}`, said))
				r.allow(call(t, tool, `{}`, owner("from")))
				passOn(r)
				if tool == "passbox" {
					r.asked(how, call(t, "dm", alice, said))
				} else {
					r.allow(call(t, "dm", alice, said))
				}
			})
		}
	}
}

// Where a message goes to a session that nobody can name, the secret can't be
// followed: it is asked about.
func TestASecretIsNotSentBlindly(t *testing.T) {
	r := labelledRig(t, nil)
	r.allow(call(t, "sessions_send", `{"label":"helper","message":"hi"}`, owner("without")))
	r.allow(call(t, "passbox", `{}`, owner("with")))
	r.asked("with a secret", call(t, "sessions_send", `{"label":"helper","message":"hi"}`, owner("with")))
}

// Nor of what came from a conversation that was not seen here.
func TestSecretsGoAlongFromAConversationThatWasNotSeenHere(t *testing.T) {
	const alice = `{"to":"alice@example.com","body":"Rain."}`
	rules := labelled(t)
	use := func(o *verifier.Options) { o.Policy = func() *policy.Policy { return rules } }
	for how, passOn := range map[string]func(r *rig){
		"a history": func(r *rig) {
			r.allow(call(t, "sessions_history", `{"sessionKey":"agent:main:from"}`, owner("to")))
		},
		"a message": func(r *rig) {
			r.allow(call(t, "sessions_send", `{"sessionKey":"agent:main:to","message":"hi"}`, owner("from")))
		},
		"a history of someone with a label": func(r *rig) {
			r.allow(call(t, "sessions_history", `{"label":"helper"}`, owner("to")))
		},
		"a session": func(r *rig) {
			r.hear(loop.SessionEnd, `{"nextSessionKey":"agent:main:to"}`, owner("from"))
		},
		"a child": func(r *rig) {
			r.hear(loop.SubagentSpawned, `{"childSessionKey":"agent:main:from"}`, owner("to"))
		},
	} {
		t.Run(how, func(t *testing.T) {
			store, _ := openSQLite(t)
			newRig(t, store, 1, use).allow(call(t, "passbox", `{}`, owner("from")))
			r, said := newRig(t, store, 1, use), saying("to", "Write to Alice")
			passOn(r)
			r.asked(how, call(t, "dm", alice, said))
		})
	}
}

// People are asked where a call goes also where no grant may cover it: that is
// when it matters most.
func TestAQuestionTellsWhichArgumentsSayWhereItGoes(t *testing.T) {
	var asked approval.Ask
	r := labelledRig(t, func(o *verifier.Options) {
		o.Desk = deskFunc(func(r *approval.Request) (approval.Ruling, error) {
			asked = r.Ask
			return approval.Ruling{Yes: true}, nil
		})
	})
	said := saying("goes", "Read the page")
	r.tainted(t, said)
	for params, where := range map[string]int{`{"to":"mallory","body":"for alice@good.example"}`: 1, `{"action":"delete","to":"mallory"}`: 0} {
		r.verify(call(t, "dm", params, said))
		if len(asked.Targets) != where || !slices.Equal(asked.TargetParams, []string{"to"}) {
			t.Errorf("%s: like calls to %q, by %q", params, asked.Targets, asked.TargetParams)
		}
	}
}
