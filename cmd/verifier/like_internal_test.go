package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

func TestAllowLikeThis(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := with(ownerIn("like"), "waitMs", 5001, "sessionId", "s1")
		send := func(to, text string) call {
			return call{tool: "message", params: fmt.Sprintf(`{"action":"send","target":%q,"text":%q}`, to, text), context: m}
		}
		r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
		r.deny(send("+15550100", "one"))
		r.refuse(r.waits().Ref, "")
		r.deny(send("+15550100", "two"))
		r.approve(r.waits().Ref, 0)
		r.allow(send("+15550100", "two"))
		r.deny(send("+15550100", "three"))
		card := r.waits()
		// What it would cover is said before it is given.
		say := fmt.Sprintf(".approve message %s like 15", card.code(t))
		first := r.reply(say)
		if first.Kind != "told" || !strings.Contains(first.Text, `"message" to "action: send", "target: +15550100"`) || !strings.Contains(first.Text, "for 15 minutes") ||
			!strings.Contains(first.Text, "Of the last 2 answers here it would have covered 2: 1 allowed, 1 DENIED") {
			t.Fatalf("%+v", first)
		}
		if v := r.reply(fmt.Sprintf(".approve message %s like 16", card.code(t))); v.Kind != "told" || !strings.Contains(v.Text, "for 16 minutes") {
			t.Errorf("for longer than was shown: %+v", v)
		}
		if r.pending()[0].Ref != card.Ref {
			t.Fatal("it was given before it was shown")
		}
		if v := r.reply(say); v.Kind != "counted" || !strings.Contains(v.Text, "like this for 15 minutes") {
			t.Fatalf("%+v", v)
		}
		r.allow(send("+15550100", "three"))
		r.allow(send("+15550100", "four"))
		if e := r.entries(); e[len(e)-1].By != "destination" || len(r.pending()) != 0 {
			t.Errorf("%+v", e[len(e)-1])
		}
		if list := r.reply(".grants"); !strings.Contains(list.Text, `"message" only to "action: send", "target: +15550100"`) {
			t.Errorf("%s", list.Text)
		}
		r.quit()
		r.start()
		r.allow(send("+15550100", "five"))
		for what, other := range map[string]call{
			"another place":    send("+15550199", "x"),
			"another argument": {tool: "message", params: `{"action":"send","target":"+15550100","text":"x","bcc":"+15550199"}`, context: m},
			"a wider action":   {tool: "message", params: `{"action":"broadcast","target":"+15550100","text":"x"}`, context: m},
			"another action":   {tool: "message", params: `{"action":"delete","target":"+15550100","text":"x"}`, context: m},
			"a secret":         send("+15550100", "the password: hunter2hunter2"),
			"another session":  {tool: "message", params: `{"action":"send","target":"+15550100","text":"x"}`, context: with(m, "sessionId", "s2", "senderIsOwner", nil)},
			"another tool":     {tool: "send_email", params: `{"action":"send","target":"+15550100","text":"x"}`, context: m},
		} {
			if a := r.send(other); a.allowed() {
				t.Errorf("%s: %s", what, a.raw)
			}
		}
		r.allow(call{tool: "read", params: `{"path":"~/.ssh/id_rsa"}`, context: m})
		r.deny(send("+15550100", "six")) // it could carry them out
	})
}

// What can't be undone, bears secrets or goes nowhere is asked about each time.
func TestWhatCanNotBeAllowedLikeThis(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		yes := true
		c.Policy.Tools = map[string]policy.Tool{
			"drop_mail": {Destructive: &yes, Destinations: []string{"to"}}, "show_key": {Secret: &yes, Destinations: []string{"to"}},
		}
	})
	m := with(ownerIn("never"), "waitMs", 5001)
	r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
	for i, c := range []call{
		{tool: "drop_mail", params: `{"to":"bob"}`, context: m},
		{tool: "show_key", params: `{"to":"bob"}`, context: m},
		{tool: "exec", params: `{"command":"date"}`, context: m},
		{tool: "gateway", params: `{"target":"bob"}`, context: m},
		{tool: "message", params: `{"target":"bob","text":"password=hunter2hunter2"}`, context: m},
		{tool: "message", params: `{"target":"` + strings.Repeat("bob, ", 20) + `","text":"hi"}`, context: m}, // more than would be shown
	} {
		r.deny(c)
		cards := r.waiting(i + 1)
		ref := cards[i].Ref
		for range 2 {
			if v := r.answerTo(map[string]any{"ref": ref, "allow": true, "like": true}); v.Kind != "misunderstood" {
				t.Errorf("%s %s: %+v", c.tool, c.params, v)
			}
		}
		if l, err := r.desk.PreviewLike(t.Context(), approval.Answer{ID: "token:owner", Ref: ref}, 0); l != nil || err != nil {
			t.Errorf("%s: %+v, %v", c.tool, l, err)
		}
	}
	k := with(ownerIn("key"), "waitMs", 5001)
	r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: k})
	r.allow(call{tool: "read", params: `{"path":"~/.ssh/id_rsa"}`, context: k})
	r.deny(call{tool: "message", params: `{"target":"bob","text":"hi"}`, context: k})
	cards := r.waiting(7)
	if v := r.answerTo(map[string]any{"ref": cards[6].Ref, "allow": true, "like": true}); v.Kind != "misunderstood" {
		t.Errorf("where secrets were read: %+v", v)
	}
}

// On a card the step is Details: only there stand both what it would cover and
// the button.
func TestAllowLikeThisByTaps(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := with(ownerIn("taps"), "waitMs", 5001)
	send := func(text string) call {
		return call{tool: "message", params: fmt.Sprintf(`{"action":"send","target":"+15550100","text":%q}`, text), context: m}
	}
	r.allow(call{tool: "web_fetch", params: `{"url":"https://a.example"}`, context: m})
	r.deny(send("one"))
	cards, err := r.desk.Pending(t.Context(), "token:owner")
	if err != nil || len(cards) != 1 || cards[0].LikePreview() != nil {
		t.Fatalf("%d cards, %v", len(cards), err)
	}
	tap := func(a approval.Action, by string) approval.Outcome {
		out, err := r.desk.Answer(t.Context(), approval.Answer{ID: by, Via: "terminal", Handle: cards[0].Handle(a)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := tap(approval.Details, "token:owner"); out.Kind != approval.Shown || out.Card.LikePreview() == nil || out.Card.LikePreview().Minutes != 30 {
		t.Fatalf("%+v", out)
	}
	if out := tap(approval.AllowLike, "telegram:666"); out.Kind != approval.Unauthorised {
		t.Errorf("%+v", out)
	}
	out := tap(approval.AllowLike, "token:owner")
	if out.Kind != approval.Counted || !out.Scope.Like {
		t.Errorf("%+v", out)
	}
	r.allow(send("one"))
	r.allow(send("two"))
	r.deny(call{tool: "message", params: `{"action":"send","target":"+15550199","text":"x"}`, context: m})
	r.reply(".revoke " + cards[0].Ref())
	r.deny(send("three"))
}
