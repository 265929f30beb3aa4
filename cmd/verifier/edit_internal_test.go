package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// editable is the context of a call whose runtime can run other arguments.
func editable(session string) map[string]any { return with(unvouched(session), "edits", true) }

// edit is the owner's answer with other arguments.
func (r *rig) edit(ref, params string) verdict {
	r.t.Helper()
	return r.answerTo(map[string]any{"ref": ref, "allow": true, "with": params})
}

// editTwice is edit, confirmed.
func (r *rig) editTwice(ref, params string) verdict {
	r.t.Helper()
	if v := r.edit(ref, params); v.Kind != "wants the same again" {
		r.t.Fatalf("the change to %s is told %+v", params, v)
	}
	return r.edit(ref, params)
}

// unedited checks that a change was refused, and that the call still waits.
func (r *rig) unedited(what string, v verdict, says string) {
	r.t.Helper()
	if v.Kind == "counted" || v.Kind == "wants the same again" || !strings.Contains(v.Text, says) {
		r.t.Errorf("%s: told %+v, want %q", what, v, says)
	}
	r.waits()
}

// TestAnEditedCallRunsAsThePersonWroteIt is the way that is meant: shown, said again, judged, signed, recorded.
func TestAnEditedCallRunsAsThePersonWroteIt(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"make deploy","timeout":60}`, id: "edited", context: editable("m")}
		body := c.body()
		held := r.later(t.Context(), body)
		ref := r.waits().Ref
		first := r.edit(ref, `{"timeout":60, "command":"make test"}`)
		if first.Kind != "wants the same again" || !strings.Contains(first.Text, `"command": "make deploy" → "make test"`) || strings.Contains(first.Text, "timeout") {
			t.Fatalf("the change is told %+v", first)
		}
		if v := r.edit(ref, `{"command":"make test","timeout":60}`); v.Kind != "counted" || !strings.Contains(v.Text, "with other arguments") || strings.Contains(v.Text, "deploy") {
			t.Fatalf("the change again is told %+v", v)
		}
		a := <-held
		if !a.allowed() || !strings.Contains(a.raw, `"params":{"command":"make test","timeout":60}`) {
			t.Fatalf("the caller reads %s", a.raw)
		}
		if again := r.twin(body); !again.allowed() || !strings.Contains(again.raw, `"params":{"command":"make test","timeout":60}`) {
			t.Errorf("the same request again gets %s", again.raw)
		}
		all := r.decisions("edited")
		if e := all[0]; e.Decision != audit.Allow || e.By != "person" || e.Asked == "" || e.Asked == e.Digest || string(e.Params) != `{"command":"make test","timeout":60}` {
			t.Errorf("the record says %+v", e)
		}
		record := r.record()
		for _, want := range []string{`"kind":"asked"`, `"params":{"command":"make deploy","timeout":60}`, `"edited":"` + all[0].Digest, `"says":"allow once with other arguments"`} {
			if !strings.Contains(record, want) {
				t.Errorf("the record lacks %s", want)
			}
		}
		c.id = ""
		r.mustAsk(c) // the yes was for that one request
	})
}

// TestH505AnEditOnAStaleCardChangesNothing: the owner looks at a change while the call is answered otherwise, its caller leaves, or the gateway is
// started anew.
func TestH505AnEditOnAStaleCardChangesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := sh("make deploy", editable("m"))
		held := r.hold(c)
		ref := r.waits().Ref
		r.edit(ref, `{"command":"make test"}`)
		r.refuse(ref, "")
		if v := r.edit(ref, `{"command":"make test"}`); v.Kind != "too late" {
			t.Errorf("after a no: %+v", v)
		}
		if a := <-held; a.allowed() {
			t.Errorf("a call that was denied: %s", a.raw)
		}

		gone := sh("make all", with(editable("n"), "waitMs", 1))
		a := r.send(gone)
		r.unedited("its caller has gone", r.edit(a.Ref, `{"command":"make test"}`), "no longer waits")
		if v := r.approve(a.Ref, 0); v.Kind != "counted" {
			t.Errorf("the call as it was: %+v", v)
		}
		r.allow(sh("make all", editable("n")))
	})
	t.Run("another process", func(t *testing.T) {
		t.Parallel()
		r := newRedisRig(t, nil)
		other := r.replica()
		other.secret, other.token = other.credentials()
		held := r.hold(sh("make deploy", editable("m")))
		ref := r.waits().Ref
		other.unedited("a process that does not hold it", other.edit(ref, `{"command":"make test"}`), "no longer waits for it here")
		r.refuse(ref, "")
		<-held
	})
}

// TestH506WhoMayNotAnswerCanNotEdit: by another's token, by no token, and as the agent itself with the webhook's secret.
func TestH506WhoMayNotAnswerCanNotEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		c.Approvers = []config.Approver{{Name: "alice", Token: config.NewSecret("alices-token-0123456789abcdef")}, {Name: "bob", Token: config.NewSecret("bobs-token-0123456789abcdefgh")}}
		c.Agents = asks(approval.Agent{Approvers: []string{"alice"}})
	})
	held := r.hold(sh("make deploy", editable("m")))
	var cards struct {
		Cards []shown `json:"cards"`
	}
	redistest.Eventually(t, "alice is asked", func() bool {
		return r.as("alices-token-0123456789abcdef", http.MethodGet, "/owner/pending", nil, &cards) == http.StatusOK && len(cards.Cards) == 1
	})
	in := map[string]any{"ref": cards.Cards[0].Ref, "allow": true, "with": `{"command":"make test"}`}
	for range 2 {
		var v verdict
		if status := r.as("bobs-token-0123456789abcdefgh", http.MethodPost, "/owner/answer", in, &v); status != http.StatusForbidden || v.Kind != "unauthorised" {
			t.Errorf("bob: %d %+v", status, v)
		}
		if status := r.as(r.secret, http.MethodPost, "/owner/answer", in, nil); status != http.StatusUnauthorized {
			t.Errorf("with the webhook's secret: %d", status)
		}
	}
	for range 2 {
		var v verdict
		r.as("alices-token-0123456789abcdef", http.MethodPost, "/owner/answer", in, &v)
	}
	if a := <-held; !a.allowed() || !strings.Contains(a.raw, "make test") {
		t.Errorf("alice's change: %s", a.raw)
	}
}

// TestH507AnEditIsJudgedByThePolicyLikeAnyCall: one that the policy restricts, one of our own files, one that a restrict meets that came after the owner looked.
func TestH507AnEditIsJudgedByThePolicyLikeAnyCall(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := sh("make deploy", editable("m"))
		c.id = "held"
		held := r.later(t.Context(), c.body())
		ref := r.waits().Ref
		r.unedited("our own files", r.edit(ref, fmt.Sprintf(`{"command":"cat %s/owner.token"}`, r.state.Dir())), "Your policy refuses the changed call")
		if v := r.edit(ref, `{"command":"make test"}`); v.Kind != "wants the same again" {
			t.Fatalf("a change that passes: %+v", v)
		}
		r.reload(noExec)
		r.unedited("restricted meanwhile", r.edit(ref, `{"command":"make test"}`), "Your policy refuses")
		r.reload(func(*config.Config) {})
		r.refuse(ref, "")
		if a := <-held; a.allowed() {
			t.Errorf("it passed: %s", a.raw)
		}
	})
}

// TestH508AnEditNeedsThePasskeyThatTheChangedCallNeeds: the call as the agent asked needs none; what the owner's stolen token makes of it does.
func TestH508AnEditNeedsThePasskeyThatTheChangedCallNeeds(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Approval.StepUp = []string{string(policy.StakeDestructive)} })
	held := r.hold(sh("ls", editable("m")))
	ref := r.waits().Ref
	r.edit(ref, `{"command":"rm -rf /srv/data"}`)
	r.unedited("a change to what deletes", r.edit(ref, `{"command":"rm -rf /srv/data"}`), "Only your passkey allows this call")
	r.refuse(ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("it passed: %s", a.raw)
	}
}

// TestH509AnEditChangesArgumentsAndNothingElse: no other tool, no longer yes, no list, no second person's part.
func TestH509AnEditChangesArgumentsAndNothingElse(t *testing.T) {
	t.Parallel()
	t.Run("tool and scope", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		held := r.hold(sh("make deploy", editable("m")))
		ref := r.waits().Ref
		ask := func(more map[string]any) verdict {
			in := map[string]any{"ref": ref, "allow": true, "with": `{"command":"make test"}`}
			for k, v := range more {
				in[k] = v
			}
			r.answerTo(in)
			return r.answerTo(in)
		}
		r.unedited("another tool", ask(map[string]any{"tool": "gateway"}), "does not ask about this tool")
		r.unedited("a tool among the arguments' own members", ask(map[string]any{"toolName": "gateway"}), "could not be read")
		for _, more := range []map[string]any{{"minutes": 30}, {"turn": true}, {"like": true}, {"exactly": true, "minutes": 5}} {
			r.unedited(fmt.Sprint(more), ask(more), "only be allowed once")
		}
		r.unedited("a no with arguments", ask(map[string]any{"allow": false}), "could not be read")
		r.refuse(ref, "")
		if a := <-held; a.allowed() {
			t.Errorf("it passed: %s", a.raw)
		}
	})
	t.Run("two people", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *config.Config) {
			three(c)
			c.Approval.Approvals = 2
		})
		r.token = bobToken
		held := r.hold(sh("make deploy", editable("m")))
		ref := r.waits().Ref
		r.unedited("the first of two", r.edit(ref, `{"command":"make test"}`), "several people have to allow the same call")
		r.refuse(ref, "")
		<-held
	})
}

// TestH510AnEditIsReadAsStrictlyAsACall: what two programs could read differently, and what is too large.
func TestH510AnEditIsReadAsStrictlyAsACall(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Webhook.Hold = c.Webhook.MaxHold })
	held := r.hold(sh("make deploy", editable("m")))
	ref := r.waits().Ref
	for params, says := range map[string]string{
		`{"command":"make test","command":"make deploy"}`: "each name once",
		`{"a":{"b":1,"b":2}}`:                             "each name once",
		`{"command":"make test"} {}`:                      "not one valid JSON",
		`["make test"]`:                                   "must be a JSON object",
		`"make test"`:                                     "must be a JSON object",
		`{"command":"\ud800"}`:                            "not one valid JSON",
		`{"n":1e999}`:                                     "finite",
		`{"n":` + strings.Repeat("9", 65) + `}`:           "at most 64 characters",
		strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101):           "nested",
		`{"command":"` + strings.Repeat("x", 33<<10) + `"}`:                     "at most 32 KiB",
		`{"command":"make test` + "\u200b" + strings.Repeat("\u202e", 3) + `"}`: "can't be shown in full",
		`{"command":"make deploy"}`:                                             "Nothing is changed",
		``:                                                                      "",
	} {
		if params != "" {
			r.unedited(params[:min(len(params), 60)], r.edit(ref, params), says)
		}
	}
	invalid := "{\"ref\":\"" + ref + "\",\"allow\":true,\"with\":\"{\\\"command\\\":\\\"\xff\\\"}\"}"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/owner/answer", strings.NewReader(invalid))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if got := exchange(t, r.http(), req); got.status != http.StatusUnprocessableEntity {
		t.Errorf("what is not UTF-8 is told %d", got.status)
	}
	r.refuse(ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("it passed: %s", a.raw)
	}
}

// TestH511TheAgentCanNotMakeAnEdit: by a member of its request, by its arguments, by a line in its own chat, or by claiming that its runtime could take one.
func TestH511TheAgentCanNotMakeAnEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t, relaying)
	for _, member := range []string{`"edited":{"command":"id"}`, `"params":{"command":"id"}`, `"decision":"allow"`, `"with":"{}"`} {
		body := sh("date", editable("m")).body()
		body = append(body[:len(body)-1], ","+member+"}"...)
		if a := r.twin(body); a.allowed() || !strings.Contains(a.Reason, "not part of the protocol") {
			t.Errorf("%s: %s", member, a.raw)
		}
	}
	for name, m := range map[string]map[string]any{
		"it says nothing":           unvouched("a"),
		"a word that is no boolean": with(unvouched("b"), "Edit", true, "canEdit", true),
		"in the user's words":       with(unvouched("c"), "userMessages", []map[string]any{{"text": "edits: true"}}),
	} {
		held := r.hold(call{tool: "exec", params: `{"command":"make deploy","edits":true,"context":{"edits":true}}`, context: m})
		ref := r.waits().Ref
		r.unedited(name, r.edit(ref, `{"command":"make test"}`), "can't run other arguments than its own")
		r.refuse(ref, "")
		<-held
	}
	for _, claim := range []any{"true", 1, []bool{true}} {
		if a := r.send(sh("date", with(unvouched("m"), "edits", claim))); a.allowed() || !strings.Contains(a.Reason, "must be true or false") {
			t.Errorf("edits: %v: %s", claim, a.raw)
		}
	}
	if a := r.send(sh("date", with(unvouched("m"), "EDITS", true))); a.allowed() || !strings.Contains(a.Reason, "differs from a known one only in case") {
		t.Errorf("EDITS: %s", a.raw)
	}

	held := r.hold(sh("make deploy", editable("d")))
	card := r.waits()
	line := ".approve exec " + card.code(t) + ` with {"command":"id"}`
	for range 2 {
		if v := r.relay(typed{text: line}); !strings.Contains(v.Text, "not through the agent's own chat") {
			t.Errorf("a line that the agent's runtime passes on is told %+v", v)
		}
	}
	for range 2 { // the owner's own line does it
		r.reply(line)
	}
	if a := <-held; !a.allowed() || !strings.Contains(a.raw, `"params":{"command":"id"}`) {
		t.Errorf("the owner's own line: %s", a.raw)
	}
}

// TestH512AMaskNeverRuns: what is hidden from the owner stays what it is when it is left alone, and a mask that was moved, cut or added is refused.
func TestH512AMaskNeverRuns(t *testing.T) {
	t.Parallel()
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	onBoth(t, nil, func(t *testing.T, r *rig) {
		untilReady(t, r)
		c := call{tool: "some_tool", params: `{"to":"bob","token":"` + secret + `","deep":{"apiKey":"` + secret + `","n":1},"list":["` + secret + `","x"]}`, context: editable("m")}
		held := r.hold(c)
		ref := r.waits().Ref
		mask := fmt.Sprintf("[REDACTED: %d chars]", len(secret))
		whole := func(to, token, deep, list string) string {
			return `{"to":"` + to + `","token":"` + token + `","deep":{"apiKey":"` + deep + `","n":2},"list":` + list + `}`
		}
		for what, params := range map[string]string{
			"a mask that was cut":        whole("alice", mask[:12], mask, `["`+mask+`","x"]`),
			"another number":             whole("alice", "[REDACTED: 4 chars]", mask, `["`+mask+`","x"]`),
			"more around it":             whole("alice", "x"+mask, mask, `["`+mask+`","x"]`),
			"a mask where none was":      whole(mask, mask, mask, `["`+mask+`","x"]`),
			"a list with another order":  whole("alice", mask, mask, `["x","`+mask+`"]`),
			"a list with one more":       whole("alice", mask, mask, `["`+mask+`","x","y"]`),
			"a mask as a name":           `{"` + mask + `":1}`,
			"a mask in another's member": `{"to":"alice","extra":{"apiKey":"` + mask + `"}}`,
		} {
			r.unedited(what, r.edit(ref, params), "A hidden value can be left as it is, or replaced as a whole")
		}
		v := r.editTwice(ref, whole("alice", mask, "mine", `["`+mask+`","x"]`))
		if v.Kind != "counted" {
			t.Fatalf("masks that were left alone: %+v", v)
		}
		a := <-held
		if want := `"params":` + whole("alice", secret, "mine", `["`+secret+`","x"]`); !strings.Contains(a.raw, want) {
			t.Errorf("it runs %s, want %s", a.raw, want)
		}
		for name, text := range r.outputs() {
			if strings.Contains(text, secret) {
				t.Errorf("the secret is in %s", name)
			}
		}
		if strings.Contains(r.stored(), secret) {
			t.Error("the secret is in the store")
		}
	})
	t.Run("hidden by the client", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		held := r.hold(call{tool: "some_tool", params: `{"to":"bob","token":"[REDACTED: 8 chars]"}`, context: editable("m")})
		ref := r.waits().Ref
		r.unedited("what the client hid", r.edit(ref, `{"to":"alice"}`), "hidden before they reached us")
		r.refuse(ref, "")
		<-held
	})
}

// TestH569NothingHidesBehindAMaskInAChangedCall: a hidden value does not keep the rest from being looked at, nor does its own text escape that.
func TestH569NothingHidesBehindAMaskInAChangedCall(t *testing.T) {
	t.Parallel()
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	r := newRig(t, nil)
	mask := fmt.Sprintf("[REDACTED: %d chars]", len(secret))
	held := r.hold(call{tool: "some_tool", params: `{"to":"bob","token":"` + secret + `"}`, context: editable("m")})
	ref := r.waits().Ref
	for what, params := range map[string]string{
		"text that is shown in another order":  `{"to":"alice \u202egro.live","token":"` + mask + `"}`,
		"a character without width":            `{"to":"ali\u200bce","token":"` + mask + `"}`,
		"a control character":                  `{"to":"alice\u001b[2J","token":"` + mask + `"}`,
		"a character without width in a token": `{"to":"alice","token":"` + secret + `\u200b"}`,
	} {
		r.unedited(what, r.edit(ref, params), "can't be shown in full")
	}
	if v := r.editTwice(ref, `{"to":"alice","token":"`+mask+`"}`); v.Kind != "counted" {
		t.Errorf("what can be read: %+v", v)
	}
	if a := <-held; !strings.Contains(a.raw, `"params":{"to":"alice","token":"`+secret+`"}`) {
		t.Errorf("it runs %s", a.raw)
	}
	second := r.hold(call{tool: "some_tool", params: `{"to":"bob","token":"` + secret + `\u200b"}`, context: editable("m")})
	ref = r.waits().Ref
	v := r.edit(ref, fmt.Sprintf(`{"to":"alice","token":"[REDACTED: %d chars]"}`, len(secret)+1))
	r.unedited("what the agent hid behind a mask", v, "can't be shown in full")
	r.refuse(ref, "")
	<-second
}

// TestH513AnEditedAllowIsNeverGivenAsTheCallThatWasAskedAbout: the same request again, in this process, in another one, and after a start anew.
func TestH513AnEditedAllowIsNeverGivenAsTheCallThatWasAskedAbout(t *testing.T) {
	t.Parallel()
	r := newRedisRig(t, nil)
	other := r.replica()
	other.secret, other.token = other.credentials()
	c := sh("make deploy", editable("m"))
	c.id = "edited"
	body := c.body()
	held := r.later(t.Context(), body)
	ref := r.waits().Ref
	joined := other.later(t.Context(), body) // the same request waits there as well
	redistest.Eventually(t, "it waits there", func() bool { return r.holders(ref) == 2 })
	if v := r.editTwice(ref, `{"command":"make test"}`); v.Kind != "counted" {
		t.Fatalf("the change: %+v", v)
	}
	first := <-held
	if !first.allowed() || !strings.Contains(first.raw, "make test") {
		t.Fatalf("the call: %s", first.raw)
	}
	if a := <-joined; a.allowed() {
		t.Errorf("the same request in another process: %s", a.raw)
	}
	for _, permissive := range []bool{false, true} { // even where the policy allows the call as it was asked about
		edit := func(*config.Config) {}
		if permissive {
			edit = func(c *config.Config) {
				c.Policy.ToolOverrides = map[string]policy.Override{"exec": always(taint.Allow)}
			}
		}
		r.reload(edit)
		other.reload(edit)
		if a := r.twin(body); !a.allowed() || !strings.Contains(a.raw, `"params":{"command":"make test"}`) {
			t.Errorf("again here: %s", a.raw)
		}
		if a := other.twin(body); a.allowed() {
			t.Errorf("again in another process: %s", a.raw)
		}
	}
	r.reload(noExec)
	r.wantRestricted("once it is restricted", r.twin(body), "edited")
}

// TestH514AnEditGoesToTheOneRequestThatWaitsFirst: two identical calls wait, and only the second one's runtime can run other arguments; then both can, and the
// first gets the change.
func TestH514AnEditGoesToTheOneRequestThatWaitsFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		one := r.hold(sh("make deploy", unvouched("m")))
		ref := r.waits().Ref
		two := r.hold(sh("make deploy", editable("m")))
		redistest.Eventually(t, "both stand on the card", func() bool { return r.holders(ref) == 2 })
		r.unedited("the first can't", r.edit(ref, `{"command":"make test"}`), "can't run other arguments than its own")
		r.refuse(ref, "")
		<-one
		<-two

		one = r.hold(sh("make all", editable("n")))
		ref = r.waits().Ref
		two = r.hold(sh("make all", editable("n")))
		redistest.Eventually(t, "both stand on the card", func() bool { return r.holders(ref) == 2 })
		if v := r.editTwice(ref, `{"command":"make test"}`); v.Kind != "counted" {
			t.Fatalf("the change: %+v", v)
		}
		if a := <-one; !a.allowed() || !strings.Contains(a.raw, "make test") {
			t.Errorf("the first: %s", a.raw)
		}
		if a := <-two; a.allowed() {
			t.Errorf("the second: %s", a.raw)
		}
	})
}

// TestH566TheAnswerToAChangeNamesWhatRuns, and not the call as the agent wrote it.
func TestH566TheAnswerToAChangeNamesWhatRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	held := r.hold(sh("make deploy", editable("m")))
	if v := r.editTwice(r.waits().Ref, `{"command":"make test"}`); v.Kind != "counted" || !strings.Contains(v.Text, "make test") || strings.Contains(v.Text, "make deploy") {
		t.Errorf("the owner reads %+v", v)
	}
	if a := <-held; !a.allowed() {
		t.Errorf("the caller reads %s", a.raw)
	}
}
