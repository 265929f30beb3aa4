package web_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// fill writes entries such as a gateway writes.
func (r *rig) fill(n int) {
	r.t.Helper()
	for i := range n {
		e := record.Entry{
			Kind: record.KindDecision, RequestID: fmt.Sprintf("request-%d", i), Client: "default",
			Session: "agent:main:main", Agent: "main",
			Tool: "exec", Params: jsontext.Value(fmt.Sprintf(`{"command":"make deploy %d"}`, i)), Level: "untrusted",
			Decision: record.Allow, By: "person",
			Why: []string{"The conversation is untrusted: the agent fetched example.com 1 call ago.", "Your policy asks before exec in untrusted conversations."},
		}
		switch i % 4 {
		case 1:
			e.Kind, e.Decision = record.KindAsked, ""
		case 2:
			e.Kind, e.Scope = record.KindAnswer, "once"
			e.People = []record.Person{{Name: "owner", Via: "page", TookMs: int64(i % 5000)}}
		}
		if err := r.record.Append(e); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestTheRecordIsSearched(t *testing.T) {
	r := newRig(t, nil)
	r.fill(200)
	b := r.owner()
	page := b.get("record").body
	if !strings.Contains(page, "make deploy 199") || strings.Contains(page, "make deploy 100") || !strings.Contains(page, "Older entries") {
		t.Errorf("the latest:\n%s", page)
	}
	_, older, _ := strings.Cut(page, `<p class="more"><a href="`)
	older, _, _ = strings.Cut(older, `"`)
	if page := b.get(strings.ReplaceAll(older, "&amp;", "&")).body; !strings.Contains(page, "make deploy 140") || strings.Contains(page, "make deploy 199") {
		t.Errorf("the older ones:\n%s", page)
	}
	for query, want := range map[string][2]string{
		"q=DEPLOY+17%22":                        {"make deploy 17", "make deploy 18"},
		"kind=answer":                           {"answered on page", "make deploy 197&"},
		"decision=allow":                        {"make deploy 196&", "make deploy 197&"},
		"q=nowhere":                             {"Nothing is found", "make deploy"},
		"kind=nonsense":                         {"no such kind", "make deploy"},
		"before=20":                             {"make deploy 12&", "make deploy 199"},
		"before=-1&q=<script>alert(1)</script>": {"Nothing is found", "<script>alert"},
	} {
		if page := b.get("record?" + query).body; !strings.Contains(page, want[0]) || strings.Contains(page, want[1]) {
			t.Errorf("%s:\n%s", query, page)
		}
	}
}

func TestTheRecordIsProvenAndExported(t *testing.T) {
	r := newRig(t, nil)
	r.fill(20)
	b := r.owner()
	if got := b.post("record/proof", "seq", "7"); !strings.Contains(got.body, "Entry 7 and all around it. Intact:") {
		t.Errorf("the proof:\n%s", got.body)
	}
	got := b.get("record/export")
	if got.body != r.record.String() || !strings.Contains(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the export has %d bytes", len(got.body))
	}
	text := strings.Replace(r.record.String(), "make deploy 3", "make deploy 4", 1)
	if err := os.WriteFile(r.record.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.post("record/proof"); !strings.Contains(got.body, "NOT INTACT: line ") {
		t.Errorf("H50: the proof of an edited record:\n%s", got.body)
	}
	if got := r.browser().get("record/export"); strings.Contains(got.body, "make deploy") {
		t.Error("a stranger got the record")
	}
}

// flood leaves n questions open that nobody waits for.
func (r *rig) flood(n int) {
	r.t.Helper()
	for i := range n {
		c := store.Name{Client: "default", Key: fmt.Sprintf("agent:main:%d", i)}
		a := approval.Ask{
			Conversation: c, SessionKey: c.Key, Agent: "main", Tool: "exec", Level: taint.Untrusted, Rule: "taintPolicy", Digest: fmt.Sprintf("%064d", i),
			Why: []string{"The conversation is untrusted."}, Started: "the owner wrote directly", Shown: jsontext.Value(`{"command":"make deploy"}`), Approvals: 1,
		}
		if _, err := r.desk.Ask(context.Background(), &approval.Request{Ask: a, ID: fmt.Sprintf("request-%d",
			i)}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestTheViewsAreQuick holds the first view to 50 ms with 500 open questions and
// a record of 10,000 entries. It takes the best of a few.
func TestTheViewsAreQuick(t *testing.T) {
	r := newRig(t, nil)
	r.flood(500)
	r.fill(10_000)
	b := r.owner()
	for _, path := range []string{"", "history", "record", "grants"} {
		best := time.Hour
		for range 7 {
			best = min(best, cputest.Elapsed(func() {
				if got := b.get(path); got.status != http.StatusOK {
					t.Fatalf("%q: %d", path, got.status)
				}
			}))
		}
		t.Logf("/page/%s takes %s", path, best)
		if limit := 50 * time.Millisecond; !raced && best > limit {
			t.Errorf("/page/%s takes %s, more than %s", path, best, limit)
		}
	}
	if got := b.get(""); len(got.body) > 100<<10 || !strings.Contains(got.body, "Behind it: the next 50 of 499") {
		t.Errorf("the list has %d bytes", len(got.body))
	}
}
