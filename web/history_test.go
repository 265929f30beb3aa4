package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

var rowOf = regexp.MustCompile(`(?s)<li class="(allow|deny)"><details><summary>.*?<time class="ago" datetime="[^"]+">.*?<span class="what">(.*?)</span> <span class="by">(.*?)</span></summary>`)

// rows are what the history shows: decision, what, who.
func rows(page string) (out []string) {
	for _, m := range rowOf.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1]+" · "+regexp.MustCompile("<[^>]+>").ReplaceAllString(m[2], "")+" · "+m[3])
	}
	return out
}

func TestTheHistoryHasOneRowForEachCall(t *testing.T) {
	r := newRig(t, nil)
	entries := story(conversation)
	entries[4].People, entries[4].Error = []record.Person{{Name: "owner", Via: "telegram", Says: "deny"}}, "denied"
	again := entries[4]
	again.Replay = true
	grant := entries[3]
	grant.Kind, grant.Decision, grant.By = record.KindDecision, record.Allow, "grant"
	late := entries[3]
	late.Kind, late.Decision, late.Error = record.KindDecision, record.Deny, "unanswered"
	names := entries[3]
	names.Kind, names.Decision, names.Params = record.KindDecision, record.Deny, jsontext.Value(`["command"]`)
	r.tell(append(entries, again, grant, late, names)...)
	b := r.owner()
	got := rows(b.get("history").body)
	want := []string{
		"deny · Run a command · policy", "deny · Run: make deploy · no answer yet", "allow · Run: make deploy · your grant", "deny · Run: make deploy · owner",
		"allow · Fetch https://example.org/y · policy", "allow · Fetch https://example.com/x · policy", "allow · Read a.txt · policy",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := rows(b.get("history?q=example.org").body); len(got) != 1 {
		t.Errorf("a search finds %q", got)
	}
	if got := rows(b.get("history?decision=deny").body); len(got) != 3 {
		t.Errorf("the denied ones are %q", got)
	}
}

func TestTheHistoryGoesOnWhereAPageEnds(t *testing.T) {
	r := newRig(t, nil)
	r.fill(120)
	b := r.owner()
	at, seen, older := "history", 0, regexp.MustCompile(`<a href="/page/(history[^"]*)">Older calls`)
	for range 10 {
		page := b.get(at)
		if page.status != http.StatusOK {
			t.Fatalf("%s: %d", at, page.status)
		}
		seen += len(rows(page.body))
		next := older.FindStringSubmatch(page.body)
		if next == nil {
			break
		}
		at = strings.ReplaceAll(next[1], "&amp;", "&")
	}
	whole := strings.Count(r.record.String(), `"kind":"decision"`)
	if seen != whole || whole < 60 {
		t.Errorf("%d rows of %d calls", seen, whole)
	}
}

// story is a conversation in the record: the owner asks, the agent reads the web,
// somebody else writes, and a call is asked about and denied.
func story(c store.Name) []record.Entry {
	of := func(kind record.Kind, run, tool, params, level string) record.Entry {
		return record.Entry{Kind: kind, Client: c.Client, Session: c.Key, Agent: "main", Run: run, Tool: tool,
			Params: jsontext.Value(params), Level: level, Started: "the owner wrote directly"}
	}
	read := of(record.KindDecision, "run-1", "read", `{"path":"a.txt"}`, "owner")
	read.Decision, read.RaisedTo, read.Source = record.Allow, "local", "read a.txt"
	fetch := of(record.KindDecision, "run-1", "web_fetch", `{"url":"https://example.com/x"}`, "local")
	fetch.Decision, fetch.RaisedTo, fetch.Source = record.Allow, "untrusted", "web_fetch example.com"
	again := of(record.KindDecision, "run-2", "web_fetch", `{"url":"https://example.org/y"}`, "untrusted")
	again.Decision, again.Started = record.Allow, "someone other than the owner wrote"
	asked := of(record.KindAsked, "run-2", "exec", `{"command":"make deploy"}`, "untrusted")
	denied := of(record.KindDecision, "run-2", "exec", `{"command":"make deploy"}`, "untrusted")
	denied.Decision, denied.Ref = record.Deny, "7Q4K"
	return []record.Entry{read, fetch, again, asked, denied}
}

func (r *rig) tell(entries ...record.Entry) {
	r.t.Helper()
	for _, e := range entries {
		if err := r.record.Append(e); err != nil {
			r.t.Fatal(err)
		}
	}
}
