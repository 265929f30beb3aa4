package verifier_test

import (
	"context"
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// ownRules labels two tools and lets everything pass but sinks in tainted
// conversations.
func ownRules(t *testing.T, how policy.OwnWords) *policy.Policy {
	t.Helper()
	rules, _, err := policy.New(policy.Config{
		TaintPolicy: policy.TaintPolicy{Shared: new(taint.Allow), External: new(taint.Allow), Untrusted: new(taint.Allow)},
		Taint:       policy.Taint{OwnWords: how},
		Tools: map[string]policy.Tool{
			"dm":      {Source: new(false), Sink: new(true), Destinations: []string{"to"}, Content: []string{"body"}, Asked: []string{"send", "tell"}},
			"note":    {Source: new(false), Sink: new(true), Destinations: []string{}, Content: []string{"body"}, Asked: []string{"send"}},
			"wipe":    {Source: new(false), Sink: new(true), Destinations: []string{"what"}, Asked: []string{"send"}, Destructive: new(true)},
			"passbox": {Source: new(false), Sink: new(false), Secret: new(true)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func ownRig(t *testing.T, how policy.OwnWords, edit func(*verifier.Options)) *rig {
	t.Helper()
	store, _ := openSQLite(t)
	rules := ownRules(t, how)
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

func TestACallInTheOwnersOwnWordsIsNotAskedAbout(t *testing.T) {
	r := ownRig(t, policy.OwnValues, nil)
	said := saying("values", "send alice@example.com: a summary of the page")
	r.tainted(t, said)
	r.allow(call(t, "dm", `{"to":"alice@example.com","body":"It will rain."}`, said))
	if e := r.record.last(); e.By != verifier.ByOwnWords || e.Mode != "confirm" {
		t.Errorf("recorded by %q in mode %q, want the consent and the mode that stood", e.By, e.Mode)
	}
	r.asked("a link from the page", call(t, "dm", `{"to":"alice@example.com","body":"See evil.example"}`, said))
	r.asked("someone else", call(t, "dm", `{"to":"mallory@example.com","body":"Hi"}`, said))
	r.asked("what destroys", call(t, "wipe", `{"what":"alice@example.com"}`, said))
	r.asked("a tool without destinations", call(t, "note", `{"body":"a summary of the page"}`, said))
}

func TestStrictlyEveryWordMustBeTheOwners(t *testing.T) {
	r := ownRig(t, policy.OwnAll, nil)
	said := saying("words", "send alice@example.com: I am late")
	r.tainted(t, said)
	r.allow(call(t, "dm", `{"to":"alice@example.com","body":"I am late"}`, said))
	r.asked("other words", call(t, "dm", `{"to":"alice@example.com","body":"I hate you"}`, said))
	for _, how := range []policy.OwnWords{"", policy.OwnOff} {
		off := ownRig(t, how, nil)
		off.tainted(t, said)
		off.asked("switched off", call(t, "dm", `{"to":"alice@example.com","body":"I am late"}`, said))
	}
}

func TestOwnWordsNeedAnOwnerWhoSaidThem(t *testing.T) {
	r := ownRig(t, policy.OwnValues, nil)
	for what, context := range map[string]string{
		"nobody said anything":            owner("silent") + `,"runId":"run"`,
		"someone else said more":          owner("more") + `,"runId":"run","userMessages":[{"text":"send alice@example.com: hi","senderIsOwner":true},{"text":"hm","senderIsOwner":false}]`,
		"the owner said more":             owner("later") + `,"runId":"run","userMessages":[{"text":"send alice@example.com: hi","senderIsOwner":true},{"text":"No, wait.","senderIsOwner":true}]`,
		"someone else said it":            owner("guest") + `,"runId":"run","userMessages":[{"text":"send alice@example.com: hi","senderIsOwner":false}]`,
		"a stranger started the run":      stranger("stranger") + `,"runId":"run","userMessages":[{"text":"send alice@example.com: hi","senderIsOwner":true}]`,
		"the client hid part of the call": saying("hidden", "send alice@example.com: hi"),
	} {
		params := `{"to":"alice@example.com","body":"hi"}`
		if what == "the client hid part of the call" {
			params = `{"to":"alice@example.com","body":"[REDACTED: token]"}`
		}
		r.tainted(t, context)
		r.asked(what, call(t, "dm", params, context))
	}
}

// The lethal trifecta: outside content, a secret, a way out. The owner's own words
// do not excuse the third.
func TestSecretsInTheConversationEndOwnWords(t *testing.T) {
	var why []string
	r := ownRig(t, policy.OwnValues, func(o *verifier.Options) {
		o.Desk = deskFunc(func(q *approval.Request) (approval.Ruling, error) {
			why = q.Ask.Why
			return approval.Ruling{Denied: true, Ref: "TEST"}, nil
		})
	})
	said := saying("trifecta", "send alice@example.com: a summary of the page")
	r.tainted(t, said)
	r.allow(call(t, "dm", `{"to":"alice@example.com","body":"It will rain."}`, said))
	r.allow(call(t, "passbox", `{}`, said))
	r.deny("with a secret at hand", call(t, "dm", `{"to":"alice@example.com","body":"It will rain."}`, said))
	if len(why) < 2 || why[1] != "The agent has read outside content and secrets, and this could send them out." {
		t.Errorf("the card says %q, want the pattern", why)
	}
}

// A process that has not seen all of a conversation can't say that it holds no
// secret.
func TestAfterARestartNobodyKnowsWhatWasRead(t *testing.T) {
	store, _ := openSQLite(t)
	rules := ownRules(t, policy.OwnValues)
	use := func(o *verifier.Options) { o.Policy = func() *policy.Policy { return rules } }
	first, said := newRig(t, store, 1, use), saying("restart", "send alice@example.com: a summary of the page")
	first.tainted(t, said)
	first.allow(call(t, "dm", `{"to":"alice@example.com","body":"Rain."}`, said))
	second := newRig(t, store, 1, use)
	second.asked("after a restart", call(t, "dm", `{"to":"alice@example.com","body":"Sun."}`, said))
	first.asked("after another process has decided", call(t, "dm", `{"to":"alice@example.com","body":"Snow."}`, said))
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
				r, said := ownRig(t, policy.OwnValues, nil), saying("to", "send alice@example.com: a summary of the page")
				r.allow(call(t, tool, `{}`, owner("from")))
				r.tainted(t, said) // before: what fetches is asked about once there are secrets
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
	r := ownRig(t, policy.OwnValues, nil)
	r.allow(call(t, "sessions_send", `{"label":"helper","message":"hi"}`, owner("without")))
	r.allow(call(t, "passbox", `{}`, owner("with")))
	r.asked("with a secret", call(t, "sessions_send", `{"label":"helper","message":"hi"}`, owner("with")))
}

// Nor can it be said of what came from a conversation that was not seen here.
func TestWhatComesFromAnUnknownConversationMayHoldSecrets(t *testing.T) {
	const alice = `{"to":"alice@example.com","body":"Rain."}`
	rules := ownRules(t, policy.OwnValues)
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
			r, said := newRig(t, store, 1, use), saying("to", "send alice@example.com: a summary of the page")
			r.tainted(t, said)
			passOn(r)
			r.asked(how, call(t, "dm", alice, said))
		})
	}
}

// forgetful is a store that has lost one conversation.
type forgetful struct {
	verifier.Store
	lost session.Conversation
}

func (s forgetful) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	view, err := s.Store.Admit(ctx, a)
	view.Lost = view.Lost || a.Conversation == s.lost
	return view, err
}

func TestWhatTheStoreHasLostIsPassedOnAsUnknown(t *testing.T) {
	var lost session.Conversation
	r := ownRig(t, policy.OwnValues, func(o *verifier.Options) { o.Store = forgetful{o.Store, lost} })
	whole := saying("whole", "send alice@example.com: a summary of the page")
	send := func(r *rig) {
		r.allow(call(t, "sessions_send", `{"sessionKey":"agent:main:whole","message":"hi"}`, owner("from")))
		r.tainted(t, whole)
	}
	send(r)
	r.allow(call(t, "dm", `{"to":"alice@example.com","body":"Rain."}`, whole))
	lost = conv("from")
	r = ownRig(t, policy.OwnValues, func(o *verifier.Options) { o.Store = forgetful{o.Store, lost} })
	send(r)
	r.asked("after a loss", call(t, "dm", `{"to":"alice@example.com","body":"Rain."}`, whole))
}

// People are asked where a call goes also where no grant may cover it: that is
// when it matters most.
func TestAQuestionTellsWhichArgumentsSayWhereItGoes(t *testing.T) {
	var asked approval.Ask
	r := ownRig(t, policy.OwnOff, func(o *verifier.Options) {
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
