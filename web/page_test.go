package web_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/web"
)

func TestEachFormDoesWhatItsButtonSays(t *testing.T) {
	for button, want := range map[string]struct {
		add  []string
		told string
		yes  bool
		min  int
		why  string
	}{
		"Allow once": {told: "Approved once by owner", yes: true},
		"15 min":     {add: []string{"minutes", "15"}, told: "Approved exactly this for 15 minutes by owner", yes: true, min: 15},
		"Deny":       {told: "Denied by owner"},
		"Send":       {add: []string{"reason", "use make\ninstead"}, told: "Denied by owner", why: "use make instead"},
	} {
		t.Run(button, func(t *testing.T) {
			r := newRig(t, nil)
			ruling := r.ask(nil)
			b := r.owner()
			name := button
			form := b.form(b.get("").body, name)
			for i := 0; i < len(want.add); i += 2 {
				form.Set(want.add[i], want.add[i+1])
			}
			if got := b.do(http.MethodPost, "answer", form, nil); got.status != http.StatusOK ||
				!strings.Contains(got.body, want.told) {
				t.Errorf("the page says %d\n%s", got.status, got.body)
			}
			if got := <-ruling; got.Yes != want.yes || got.Scope.Minutes != want.min || got.Reason != want.why ||
				got.Denied == want.yes {
				t.Errorf("the ruling: %+v", got)
			}
		})
	}
}

// TestWhatAYesForAWhileCoversStandsBesideItsButton: behind More, on the list and on the opened card.
func TestWhatAYesForAWhileCoversStandsBesideItsButton(t *testing.T) {
	r := newRig(t, nil)
	ruling := r.ask(func(a *approval.Ask) {
		a.Shown, a.Network = jsontext.Value(`{"command":"git log > out.txt"}`), false
	})
	b := r.owner()
	if list := b.get("").body; !strings.Contains(list, "Allow exactly this in this conversation for") ||
		!strings.Contains(list, "Allow any exec in this conversation for") {
		t.Errorf("the list has\n%s", list)
	}
	cards, _, err := r.desk.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := b.get("cards/" + cards[0].ID).body
	_, wider, _ := strings.Cut(page, "<summary>More…</summary>")
	if !strings.Contains(wider, "Allow any exec in this conversation for") || strings.Contains(page, "covers only") {
		t.Errorf("the card has\n%s", page)
	}
	_, wider, _ = strings.Cut(wider, "Allow exactly this in this conversation for")
	_, wider, _ = strings.Cut(wider, "</form>")
	form := b.form(wider, "30 min")
	form.Set("minutes", "30")
	if got := b.do(http.MethodPost, "answer", form, nil); !strings.Contains(
		got.body,
		"Approved for 30 minutes by owner",
	) {
		t.Errorf("the page says\n%s", got.body)
	}
	if got := <-ruling; !got.Yes || got.Scope != (approval.Scope{Minutes: 30}) {
		t.Errorf("the ruling: %+v", got)
	}
	if list := b.get("grants").body; !strings.Contains(list, "exec") || strings.Contains(list, "only") {
		t.Errorf("the grants are\n%s", list)
	}
}

func TestH27TheSecondAnswerIsToldTheTruth(t *testing.T) {
	r := newRig(t, nil)
	ruling := r.ask(nil)
	first, second := r.owner(), r.owner()
	page := second.get("").body
	first.do(http.MethodPost, "answer", first.form(first.get("").body, "Deny"), nil)
	got := second.do(http.MethodPost, "answer", second.form(page, "Allow once"), nil)
	if !strings.Contains(got.body, "Already answered: Denied by owner at") || strings.Contains(got.body, "pproved") {
		t.Errorf("the second reads\n%s", got.body)
	}
	if got := <-ruling; got.Yes {
		t.Errorf("the ruling: %+v", got)
	}
}

func TestACardThatIsSettledShowsHowAndHasNoButtons(t *testing.T) {
	r := newRig(t, nil)
	r.ask(nil)
	b := r.owner()
	cards, _, err := r.desk.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.do(http.MethodPost, "answer", b.form(b.get("").body, "Deny"), nil)
	got := b.get("cards/" + cards[0].ID)
	if !strings.Contains(got.body, "Denied by owner at <time") || strings.Contains(got.body, "Allow once") {
		t.Errorf("the card is\n%s", got.body)
	}
	if got := b.get("cards/" + strings.Repeat("0", 34)); !strings.Contains(got.body, "not here any more") {
		t.Errorf("a card that never was is\n%s", got.body)
	}
}

func TestH39WhatIsNotFullyVisibleIsAllowedOnlyWhereAllOfItStands(t *testing.T) {
	r := newRig(t, nil)
	long := strings.Repeat("echo x; ", 2000) + "rm -rf ~"
	ruling := r.ask(func(a *approval.Ask) { a.Shown, a.Lasting = jsontext.Value(`{"command":"`+long+`"}`), false })
	b := r.owner()
	list := b.get("").body
	if strings.Contains(list, ">Allow once<") || !strings.Contains(list, "Read all of it to allow") {
		t.Errorf("the list offers to allow what it does not show:\n%s", list)
	}
	cards, _, err := r.desk.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := b.get("cards/" + cards[0].ID).body
	if !strings.Contains(page, long) {
		t.Error("the card leaves something out")
	}
	b.do(http.MethodPost, "answer", b.form(page, "Allow once"), nil)
	if got := <-ruling; !got.Yes {
		t.Errorf("the ruling: %+v", got)
	}
}

func TestTheAgentIsPausedFromThePage(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	got := b.post("say", "what", "pause")
	if !strings.Contains(got.body, "paused by owner (page)") || r.desk.Pauses.Text(t.Context()) == "" {
		t.Errorf("pause: %s", got.body)
	}
	if got := b.post("say", "what", "resume"); !strings.Contains(got.body, "resumed by owner (page)") ||
		r.desk.Pauses.Text(t.Context()) != "" {
		t.Errorf("resume: %s", got.body)
	}
	if got := b.post("say", "what", ".reset-trust"); got.status != http.StatusUnprocessableEntity {
		t.Errorf("anything else: %d", got.status)
	}
}

// events is an open stream.
type events struct {
	lines *bufio.Scanner
	close func()
}

func (b *browser) stream(t *testing.T, query string) *events {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/page/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Verifier-Session", b.session)
	res, err := b.client.Do(req) //nolint:bodyclose // by the stream's close
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(res, err)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &events{lines, func() { cancel(); res.Body.Close() }}
}

// next is the data of the next event of this name.
func (e *events) next(t *testing.T, name string) string {
	t.Helper()
	var data strings.Builder
	found := false
	for e.lines.Scan() {
		line := e.lines.Text()
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			found = event == name
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok && found {
			data.WriteString(text + "\n")
		}
		if line == "" && data.Len() > 0 {
			return data.String()
		}
	}
	t.Fatalf("the stream ended before %q: %v", name, e.lines.Err())
	return ""
}

func TestAPageHearsOfACallWhenItComesAndWhenItIsAnswered(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	s := b.stream(t, "?seen=-.-")
	defer s.close()
	r.ask(nil)
	now := s.next(t, "now")
	if !strings.Contains(now, "make deploy") || !strings.Contains(now, "Allow once") {
		t.Errorf("now: %s", now)
	}
	r.ask(func(a *approval.Ask) { a.Tool = "message" })
	if rest := s.next(t, "rest"); !strings.Contains(rest, "Send a message") ||
		!strings.Contains(rest, `data-count="2"`) {
		t.Errorf("rest: %s", rest)
	}
	b.do(http.MethodPost, "answer", b.form(b.get("").body, "Deny"), nil)
	if now := s.next(t, "now"); !strings.Contains(now, "> message<") || strings.Contains(now, "rm -rf") {
		t.Errorf("then: %s", now)
	}
}

func TestAStreamOfOneCardSaysWhenItChanges(t *testing.T) {
	r := newRig(t, nil)
	r.ask(nil)
	b := r.owner()
	cards, _, err := r.desk.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := b.get("cards/" + cards[0].ID).body
	_, query, _ := strings.Cut(page, `data-events="/page/events`)
	query, _, _ = strings.Cut(query, `"`)
	s := b.stream(t, strings.ReplaceAll(query, "&amp;", "&"))
	defer s.close()
	b.do(http.MethodPost, "answer", b.form(page, "Deny"), nil)
	if got := s.next(t, "card"); got != "changed\n" {
		t.Errorf("%q", got)
	}
}

func TestStopEndsTheStreams(t *testing.T) {
	r := newRig(t, nil)
	b := r.owner()
	s := b.stream(t, "")
	defer s.close()
	r.page.Stop()
	s.ended(t)
}

// ended waits until a stream is over.
func (e *events) ended(t *testing.T) {
	t.Helper()
	for e.lines.Scan() {
		continue
	}
	if err := e.lines.Err(); err != nil {
		t.Error(err)
	}
}

func TestAStreamEndsWithItsLogin(t *testing.T) {
	r := newRig(t, func(o *web.Options) { o.Session = time.Minute })
	b, other := r.owner(), r.owner()
	mine, theirs := b.stream(t, ""), other.stream(t, "?seen=-.-")
	defer mine.close()
	defer theirs.close()
	if got := b.post("logout"); got.status != http.StatusNoContent {
		t.Errorf("logging out: %d %s", got.status, got.body)
	}
	mine.ended(t)
	r.ask(nil)
	if now := theirs.next(t, "now"); !strings.Contains(now, "make deploy") {
		t.Errorf("the other login's stream: %s", now)
	}
	short := r.owner()
	r.wait(time.Minute - 1500*time.Millisecond) // its clock, before the stream begins
	last := short.stream(t, "")
	defer last.close()
	last.ended(t)
}

func TestTheFirstViewIsSmallAndAsksNobodyElse(t *testing.T) {
	const most = 100 << 10
	r := newRig(t, nil)
	for range 3 {
		r.ask(func(a *approval.Ask) {
			a.Shown = jsontext.Value(`{"command":"` + strings.Repeat("make deploy ", 20) + `"}`)
			a.Agent += "x"
		})
	}
	b := r.owner()
	page := r.browser().get("").body + b.get("").body // the shell, and what it fetches
	total := len(page)
	for _, attribute := range []string{`src="`, `href="`} {
		for i, part := range strings.Split(page, attribute) {
			target, _, _ := strings.Cut(part, `"`)
			switch {
			case i == 0:
			case strings.HasPrefix(target, "/page/assets/"):
				got := b.get(target)
				total += len(got.body)
				if got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s: %d, %s", target, got.status, got.header.Get("Cache-Control"))
				}
			case !strings.HasPrefix(target, "/page/") && !strings.HasPrefix(target, "#"):
				t.Errorf("the page asks for %s", target)
			}
		}
	}
	if total > most {
		t.Errorf("the first view has %d bytes, unpacked", total)
	}
	t.Logf("the first view has %d bytes, unpacked", total)
	if got := b.get("manifest.webmanifest"); !jsontext.Value(got.body).IsValid() ||
		got.header.Get("Content-Type") != "application/manifest+json" {
		t.Errorf("the manifest: %s", got.body)
	}
}
