package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
)

// wrote is a turn in which the owner wrote these messages, the last one last.
func wrote(session string, messages ...string) map[string]any {
	var all []map[string]any
	for _, m := range messages {
		all = append(all, map[string]any{"text": m, "senderIsOwner": true})
	}
	return with(ownerIn(session), "runId", "run-"+session, "userMessages", all, "waitMs", 5001)
}

// params writes the arguments of a call.
func params(t *testing.T, members ...any) string {
	t.Helper()
	all := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		all[fmt.Sprint(members[i])] = members[i+1]
	}
	text, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// long are texts that cost most to compare.
func padded() map[string]string {
	const size = 60_000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"plain English": fill("the quick brown fox jumps over the lazy dog and tells you about it "),
		"one letter":    fill("a"),
		"dates":         fill("2024-05-19 "),
		"long words":    fill(strings.Repeat("a", 40) + " "),
		"addresses":     fill("a@b.example "),
		"amounts":       fill("$1 "),
		"Chinese":       fill("請"),
	}
}

// longHold are settings under which a call that is judged slowly is still asked
// about. The answers take a fraction of a second, and longer on a busy machine that
// looks for races; what grows with the square of the text takes minutes.
func longHold(c *config.Config) { c.Webhook.Hold, c.Webhook.MaxHold = time.Minute, time.Minute }

// asksSoon sends a call, waits for the question about it and answers no.
func (r *rig) asksSoon(c call) {
	r.t.Helper()
	c.context = with(c.context, "waitMs", time.Minute.Milliseconds())
	held := r.hold(c)
	if v := r.say(r.token, map[string]any{"ref": r.waits().Ref, "allow": false}); v.Kind != "counted" {
		r.t.Errorf("the owner's no is told %+v", v)
	}
	if a := <-held; a.status != http.StatusOK || a.Decision != "deny" {
		r.t.Errorf("got %d %.200s, want a deny", a.status, a.raw)
	}
}

func TestH95LongTextsAreComparedInTime(t *testing.T) {
	r := newRig(t, longHold)
	for what, text := range padded() {
		t.Run(what, func(t *testing.T) {
			said := wrote("long-"+strings.ReplaceAll(what, " ", "-"), text, text, text, "send eve@evil.example: "+text)
			r.allow(call{tool: "web_fetch", params: `{"url":"https://news.example/"}`, context: said})
			almost := string([]rune(text)[:len([]rune(text))/2]) + "x"
			r.asksSoon(call{tool: "message", params: params(t, "action", "send", "target", "eve@evil.example", "message", almost), context: said})
		})
	}
}

// A name is part of the path of everything below it.
func TestH96ALongNameAboveManyArgumentsCostsNothing(t *testing.T) {
	r := newRig(t, longHold)
	said := wrote("names", "Read the news")
	r.allow(call{tool: "web_fetch", params: `{"url":"https://news.example/"}`, context: said})
	name, many := strings.Repeat("n", 400_000), "["+strings.Repeat("1,", 200_000)+"1]"
	r.asksSoon(call{tool: "message", params: `{"action":"send","target":"eve@evil.example","` + name + `":` + many + `}`, context: said})
}
