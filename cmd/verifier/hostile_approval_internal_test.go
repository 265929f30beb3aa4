package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/store/redistest"
)

// unvouched is a run that nobody vouches for: every acting call is asked about.
func unvouched(session string) map[string]any {
	return map[string]any{"sessionKey": "agent:main:" + session}
}

func TestH24GuessingCodesLocksAfterFiveAndTheOwnerIsTold(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
		card := r.waits()
		for i := 1; i <= 5; i++ {
			v := r.reply(fmt.Sprintf(".approve exec 0000000%d", i))
			if want := map[bool]string{true: "locked", false: "not found"}[i == 5]; v.Kind != want {
				t.Errorf("try %d is told %+v, want %s", i, v, want)
			}
		}
		if v := r.reply(".approve exec " + card.code(t)); v.Kind != "locked" || v.status != http.StatusTooManyRequests {
			t.Errorf("the right code after five wrong ones is told %+v", v)
		}
		redistest.Eventually(t, "the owner sees the lock", func() bool { return strings.Contains(r.screen.String(), "5 wrong codes") })
		if !strings.Contains(r.record(), `"kind":"lock"`) {
			t.Error("the record does not know of the lock")
		}
		if v := r.approve(card.Ref, 0); v.Kind != "counted" {
			t.Errorf("the reference does not work any more: %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
	})
}

func TestH25OneCodeUsedByAHundredIsOneOutcome(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")}
		held := r.hold(c)
		line := ".approve exec " + r.waits().code(t)
		var wg sync.WaitGroup
		kinds := make(chan string, 100)
		for range 100 {
			wg.Go(func() {
				v := r.reply(line)
				for try := 0; v.status == http.StatusServiceUnavailable && try < 10; try++ { // "try again", a busy store says
					v = r.reply(line)
				}
				kinds <- v.Kind
			})
		}
		wg.Wait()
		close(kinds)
		count := map[string]int{}
		for k := range kinds {
			count[k]++
		}
		if count["counted"] != 1 || count["too late"] != 99 {
			t.Errorf("outcomes: %v", count)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
		c.context = with(c.context, "waitMs", 5001)
		r.deny(c)
	})
}

func TestH25AHundredClaimsOfOneYesLetOneThrough(t *testing.T) {
	t.Parallel()
	onBoth(t, briefly, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")}
		r.approve(r.deny(c).Ref, 0)
		c.context = with(c.context, "waitMs", 5001)
		var wg sync.WaitGroup
		answers := make(chan answer, 50)
		for range 50 {
			wg.Go(func() { answers <- r.send(call{tool: c.tool, params: c.params, context: unvouched("x")}) })
		}
		wg.Wait()
		close(answers)
		allowed := 0
		for a := range answers {
			if a.allowed() {
				allowed++
			}
		}
		if allowed != 1 {
			t.Errorf("%d of 50 identical calls passed on one yes", allowed)
		}
	})
}

func TestH26ACodeOfOneConversationDoesNothingInAnother(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`}
		c.context = unvouched("a")
		a := r.hold(c)
		first := r.waits()
		c.context = with(unvouched("b"), "waitMs", 5500)
		b := r.hold(c)
		r.waiting(2)
		if v := r.reply(".approve all " + first.code(t) + " 10"); v.Kind != "counted" {
			t.Fatalf("told %+v", v)
		}
		if got := <-a; !got.allowed() {
			t.Errorf("A got %s", got.raw)
		}
		if got := <-b; got.allowed() {
			t.Error("the code of A released B")
		}
	})
}

func TestH27AllowAndDenyRaceToOneEnd(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for i := range 10 {
			held := r.hold(call{tool: "exec", params: fmt.Sprintf(`{"command":"echo %d"}`, i), context: unvouched("x")})
			card := r.waits()
			var yes, no verdict
			var wg sync.WaitGroup
			wg.Go(func() { yes = r.approve(card.Ref, 0) })
			wg.Go(func() { no = r.refuse(card.Ref, "no") })
			wg.Wait()
			if (yes.Kind == "counted") == (no.Kind == "counted") {
				t.Fatalf("yes is told %+v, no is told %+v", yes, no)
			}
			if got := <-held; got.allowed() != (yes.Kind == "counted") {
				t.Errorf("yes was %s, no was %s, the call got %s", yes.Kind, no.Kind, got.raw)
			}
			loser := no
			if no.Kind == "counted" {
				loser = yes
			}
			if !strings.Contains(loser.Text, "by owner") {
				t.Errorf("the loser is told %q", loser.Text)
			}
			if v := r.approve(card.Ref, 0); v.Kind != "too late" {
				t.Errorf("a second tap is told %+v", v)
			}
		}
	})
}

func TestH28AnyChangeAfterAllowOnceIsANewQuestion(t *testing.T) {
	t.Parallel()
	onBoth(t, briefly, func(t *testing.T, r *rig) {
		c := call{tool: "message", params: `{"to":1234567890123456789,"text":"hi"}`, context: unvouched("x")}
		r.approve(r.deny(c).Ref, 0)
		for name, other := range map[string]call{
			"one byte":             {tool: "message", params: `{"to":1234567890123456789,"text":"hI"}`, context: c.context},
			"a long id's end":      {tool: "message", params: `{"to":1234567890123456788,"text":"hi"}`, context: c.context},
			"another session id":   {tool: "message", params: c.params, context: with(c.context, "sessionId", "s")},
			"another session":      {tool: "message", params: c.params, context: unvouched("y")},
			"another tool":         {tool: "send_email", params: c.params, context: c.context},
			"one more param":       {tool: "message", params: `{"to":1234567890123456789,"text":"hi","cc":null}`, context: c.context},
			"the number as string": {tool: "message", params: `{"to":"1234567890123456789","text":"hi"}`, context: c.context},
		} {
			if a := r.send(other); a.allowed() {
				t.Errorf("%s: the yes covered it", name)
			}
		}
		c.params = `{ "text":"hi", "to":1234567890123456789 }` // the same call, other bytes
		r.allow(c)
	})
}

func TestH28ParamsTheClientHidReleaseOnlyTheHeldRequest(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "write", params: `{"path":"a.txt","content":"[REDACTED: 120 chars]"}`, context: unvouched("x")}
		held := r.hold(c)
		card := r.waits()
		if v := r.approve(card.Ref, 30); v.Kind != "counted" || !strings.Contains(v.Text, "this call only") {
			t.Errorf("told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("the held call got %s", a.raw)
		}
		c.context = with(c.context, "waitMs", 5001)
		late := r.deny(c)
		if v := r.approve(late.Ref, 0); v.Kind == "counted" {
			t.Errorf("a call that no longer waits was approved: %+v", v)
		}
		r.deny(c)
	})
}

func TestH29NoSecretReachesAnyOutput(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a9c51d2e84b60"
	onBoth(t, nil, func(t *testing.T, r *rig) {
		var said strings.Builder
		codes := map[string]bool{}
		for i, params := range []string{
			`{"path":"a.txt","content":"db_password = \"` + canary + `\"\n"}`,
			`{"path":"a.txt","edits":[{"oldText":"API_KEY=` + canary + `","newText":"x"}]}`,
			`{"headers":{"Authorization":"Bearer ` + canary + `"},"db_password":"` + canary + `"}`,
			`{"nested":[{"api_key":"` + canary + `"}],"contentBase64":"` + base64.StdEncoding.EncodeToString([]byte("api_key="+canary)) + `"}`,
		} {
			held := r.hold(call{tool: "write", params: params, context: unvouched(fmt.Sprint("s", i))})
			card := r.waits()
			codes[card.code(t)] = true
			if i%2 == 0 {
				r.approve(card.Ref, 30)
			} else {
				r.reply(".deny " + card.code(t) + " because of " + card.code(t))
			}
			said.WriteString((<-held).raw + "\n")
			if strings.Contains(card.Text, canary) {
				t.Errorf("the card shows a hidden value:\n%s", card.Text)
			}
		}
		key, err := r.state.ServerKey()
		if err != nil {
			t.Fatal(err)
		}
		secrets := []string{canary, r.secret, r.token, hex.EncodeToString(key), string(key), ".approve", ".deny"}
		for c := range codes {
			secrets = append(secrets, c)
		}
		for place, text := range map[string]string{"answers": said.String(), "log": r.log.String(), "record": r.record(), "metrics": r.page("/metrics"), "health": r.page("/readyz")} {
			for _, s := range secrets {
				for form, v := range map[string]string{"plain": s, "base64": base64.StdEncoding.EncodeToString([]byte(s)), "hex": hex.EncodeToString([]byte(s))} {
					if strings.Contains(text, v) {
						t.Errorf("the %s hold %q (%s)", place, s, form)
					}
				}
			}
		}
		if strings.Contains(r.screen.String(), canary) || strings.Contains(r.screen.String(), r.token) || strings.Contains(r.screen.String(), r.secret) {
			t.Error("the terminal shows a secret")
		}
	})
}

func TestH30MinutesAreCappedAndTheCapIsSaid(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
		v := r.reply(".approve all " + r.waits().code(t) + " 99999")
		if v.Kind != "counted" || !strings.Contains(v.Text, "for 10 minutes") || !strings.Contains(v.Text, "10 minutes is the most") {
			t.Errorf("told %+v", v)
		}
		<-held
		held = r.hold(call{tool: "write", params: `{"path":"a"}`, context: unvouched("x")})
		v = r.reply(".approve write " + r.waits().code(t) + " 99999")
		if v.Kind != "counted" || !strings.Contains(v.Text, "for 60 minutes") || !strings.Contains(v.Text, "60 minutes is the most") {
			t.Errorf("told %+v", v)
		}
		<-held
	})
}

func TestH30NoLastingGrantForDangerousCalls(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, tool := range []string{"gateway", "plugins", "secrets", "calendar_delete"} {
			held := r.hold(call{tool: tool, params: `{"action":"set"}`, context: unvouched(tool)})
			if v := r.approve(r.waits().Ref, 30); !strings.Contains(v.Text, "this call only") {
				t.Errorf("%s: told %+v", tool, v)
			}
			if a := <-held; !a.allowed() {
				t.Errorf("%s: got %s", tool, a.raw)
			}
			again := r.deny(call{tool: tool, params: `{"action":"set"}`, context: with(unvouched(tool), "waitMs", 5001)})
			r.refuse(again.Ref, "")
		}
	})
}

func TestH30TheAgentCannotApproveItself(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		main := ownerIn("main")
		port := r.url[strings.LastIndexByte(r.url, ':')+1:]
		for _, c := range []call{
			{tool: "read", params: `{"path":"` + r.state.Dir() + `/owner.token"}`},
			{tool: "exec", params: `{"command":"verifier approve 7Q4K"}`},
			{tool: "exec", params: `{"command":"cat ` + r.state.Dir() + `/server.key"}`},
			{tool: "web_fetch", params: `{"url":"` + r.url + `/owner/pending"}`},
			{tool: "web_fetch", params: `{"url":"http://localhost:` + port + `/owner/pending"}`},
			{tool: "exec", params: `{"command":"curl -H 'Authorization: Bearer '$VERIFIER_OWNER_TOKEN http://127.0.0.1:` + port + `/owner/answer"}`},
			{tool: "write", params: `{"path":"~/.openclaw/openclaw.json","content":"{}"}`},
		} {
			c.context = main
			a := r.deny(c)
			if a.Ref != "" || !strings.HasPrefix(a.Reason, "Not permitted here (ref ") {
				t.Errorf("%s: got %s", c.params, a.raw)
			}
		}
		if cards := r.pending(); len(cards) != 0 {
			t.Errorf("%d cards wait: such a call is refused, not asked", len(cards))
		}
	})
}

// page is what anybody can read.
func (r *rig) page(path string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	text := string(exchange(r.t, client, req).body)
	if text == "" {
		r.t.Fatalf("%s: nothing", path)
	}
	return text
}

// record is the whole record as it stands on disk.
func (r *rig) record() string {
	r.t.Helper()
	text, err := os.ReadFile(r.state.Record())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}
