package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
)

const readsAsTest = "Test question: nothing runs, whatever you answer"

// TestH226ACallThatIsNamedLikeATestQuestionIsNone: what makes a question a test is sealed by the server, and a yes to a test is no yes to a call.
func TestH226ACallThatIsNamedLikeATestQuestionIsNone(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		v := r.visit()
		v.enter(r.loginLink())
		_, page := v.load(http.MethodPost, "/page/test", nil)
		if !strings.Contains(page, readsAsTest) {
			t.Fatalf("the page shows\n%s", page)
		}
		_, page = v.load(http.MethodPost, "/page/answer", url.Values{"handle": {field(page, "handle", "Allow once")}})
		if !strings.Contains(page, "Approved once by owner") {
			t.Fatalf("the page says\n%s", page)
		}
		for _, tool := range []string{approval.TestTool, readsAsTest} {
			a := r.mustAsk(call{tool: tool, params: `{"test":true}`, context: unvouched("h226")})
			_, page = v.load(http.MethodGet, "/page/", nil)
			if !strings.Contains(page, "Use tool") || strings.Contains(page, `class="head">`+readsAsTest) {
				t.Errorf("%q is shown as\n%s", tool, page)
			}
			r.refuse(a.Ref, "")
		}
	})
}

// TestH227TestQuestionsFloodNobody: only an approver sends them, from the page itself, one at a time and a few an hour; no agent's budget pays for them.
func TestH227TestQuestionsFloodNobody(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		v, guest := r.visit(), r.visit()
		v.enter(r.loginLink())
		guest.enter(r.loginLink("--viewer"))
		if status, _ := guest.load(http.MethodPost, "/page/test", nil); status != http.StatusForbidden {
			t.Errorf("a viewer gets %d", status)
		}
		if status, _ := r.visit().load(http.MethodPost, "/page/test", nil); status != http.StatusUnauthorized {
			t.Errorf("without a session: %d", status)
		}
		if n := len(r.pending()); n != 0 {
			t.Fatalf("%d questions wait", n)
		}
		sent := 0
		for range 20 {
			_, page := v.load(http.MethodPost, "/page/test", nil)
			if _, again := v.load(http.MethodPost, "/page/test", nil); len(r.pending()) > 1 || !strings.Contains(page, "was sent") && strings.Contains(again, "was sent") {
				t.Fatalf("%d questions wait", len(r.pending()))
			}
			if !strings.Contains(page, "was sent") {
				break
			}
			sent++
			if !strings.Contains(page, readsAsTest) {
				t.Fatalf("after %d the page shows\n%s", sent, page)
			}
			v.load(http.MethodPost, "/page/answer", url.Values{"handle": {field(page, "handle", "Deny")}})
		}
		if sent == 0 || sent > 6 {
			t.Errorf("%d were sent", sent)
		}
		r.mustAsk(sh("make deploy", unvouched("h227"))) // an agent still may
	})
}
