package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/web/webtest"
)

// phoneTests are what the page does on a phone, by name.
var phoneTests = map[string]func(*testing.T, *surf){
	"the bar at the bottom":         barInBrowser,
	"a flag is never broken":        flagsInBrowser,
	"the history, in local time":    historyInBrowser,
	"what became of an answer goes": staleInBrowser,
	"without a connection":          offlineInBrowser,
	"keys move, deny and allow":     keysInBrowser,
	"a test question":               testQuestionInBrowser,
}

// inGroup is the context of the owner's message in a group: it asks.
func inGroup(session string) map[string]any { return with(ownerIn(session), "groupId", "g1") }

// asks holds a call until it waits on the page.
func (s *surf) asks(c call) <-chan answer {
	s.t.Helper()
	before := len(s.pending())
	held := s.hold(c)
	redistest.Eventually(s.t, "the question waits", func() bool { return len(s.pending()) > before })
	return held
}

// barInBrowser goes through the views by the bar at the bottom, which only a phone has.
func barInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Phone)
	var bar []string
	tab.Eval(`[...document.querySelectorAll(".tabs > a, .tabs > details > summary")].filter(e => e.checkVisibility() && e.getBoundingClientRect().bottom <= innerHeight).map(e => e.innerText.trim())`, &bar)
	if !slices.Equal(bar, []string{"Waiting", "History", "Grants", "More"}) {
		t.Errorf("the bar has %q", bar)
	}
	tab.Click(`.tabs a[href="/page/history"]`)
	tab.Wait("it is the history", `document.querySelector("h1")?.innerText === "History" && document.querySelector('.tabs [aria-current]').innerText.trim() === "History"`)
	tab.Click(".tabmore > summary")
	tab.Text("Log out")
	s.check(tab, "More")
	held := s.asks(sh("make deploy", unvouched("x")))
	tab.Click(`.sheet a[href="/page/record"]`)
	tab.Text("Prove that it is intact")
	s.open(tab, "")
	tab.Click(".tabmore > summary")
	second := s.asks(sh("make test", unvouched("y")))
	tab.Text("make test") // the list is drawn anew below it
	tab.Wait("More is still open", `document.querySelector(".tabmore").open`)
	tab.Press("Escape")
	tab.Wait("Escape closes it", `!document.querySelector(".tabmore").open`)
	tab.Resize(webtest.Desk)
	tab.Wait("a desk has it at the top", `!document.querySelector(".tabs").checkVisibility() && document.querySelector(".views").checkVisibility()`)
	tab.Click(".card button.deny")
	<-held
	tab.Wait("the other one is next", `document.querySelector(".card .head")?.innerText.includes("make test")`)
	tab.Click(".card button.deny")
	<-second
}

// keptOpen: a part of the page is drawn anew because another approver has voted. What the person has opened, typed and focused stays.
func keptOpen(t *testing.T, s *surf) {
	tab := s.login(webtest.Phone)
	held := s.asks(sh("make deploy", unvouched("x")))
	tab.Text("make deploy")
	openMore(tab)
	tab.Type(".because input[name=reason]", "not on a Fri")
	tab.Eval(`scrollTo(0, 150); window.top0 = scrollY; window.card0 = document.querySelector(".card")`, nil)
	first := s.waits().Ref
	s.as(secondToken, http.MethodPost, "/owner/answer", map[string]any{"ref": first, "allow": true}, nil)
	tab.Wait("it was drawn anew", `document.querySelector(".card") && document.querySelector(".card") !== card0`)
	tab.Wait("all is as it was", `document.querySelector(".moreways").open && document.activeElement.name === "reason" && Math.abs(scrollY - top0) < 60`)
	tab.Insert("day")
	tab.Wait("and what was typed goes on", `document.querySelector(".because input[name=reason]").value === "not on a Friday"`)
	// A question that is another takes nothing of it over.
	second := s.asks(sh("make test", unvouched("y")))
	tab.Text("make test")
	tab.Eval(`document.querySelector(".queue a").focus()`, nil)
	third := s.asks(sh("make clean", unvouched("z")))
	tab.Text("make clean")
	tab.Wait("the focus stays on the row", `document.activeElement.matches(".queue a") && document.activeElement.innerText.includes("make test")`)
	s.as(secondToken, http.MethodPost, "/owner/answer", map[string]any{"ref": first, "allow": false}, nil)
	tab.Wait("the next question is fresh", `document.querySelector(".card .head")?.innerText.includes("make test") && !document.querySelector(".moreways").open && document.querySelector(".because input[name=reason]").value === ""`)
	for _, h := range []<-chan answer{held, second, third} {
		for _, p := range s.pending() {
			s.as(secondToken, http.MethodPost, "/owner/answer", map[string]any{"ref": p.Ref, "allow": false}, nil)
		}
		<-h
	}
}

// secondToken is the token of a second approver.
const secondToken = "ann-token-0123456789abcdef"

// twoPeople must allow a call.
func twoPeople(c *config.Config) {
	unhurried(c)
	c.Approval.Approvals = 2
	c.Approvers = []config.Approver{{Name: "owner", IDs: []string{"token:owner"}}, {Name: "Ann", Token: config.NewSecret(secondToken)}}
}

// lineOf counts the lines that a text of the page takes.
const lineOf = `(text => { const walk = document.createTreeWalker(document.querySelector(".card .main pre"), NodeFilter.SHOW_TEXT); const range = document.createRange();
	for (let n; n = walk.nextNode();) { const at = n.data.indexOf(text); if (at >= 0) { range.setStart(n, at); range.setEnd(n, at + text.length); return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size } } return 0 })(%q)`

func flagsInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Phone)
	flags := []string{"--recurse-submodules", "--no-single-branch", "--filter=blob:none", "--also-filter-submodules", "--shallow-submodules", "--no-remote-submodules"}
	held := s.asks(sh("git clone "+strings.Join(flags, " ")+" ./mirror", unvouched("x")))
	tab.Text("--recurse-submodules")
	for _, flag := range flags {
		var lines int
		if tab.Eval(fmt.Sprintf(lineOf, flag), &lines); lines != 1 {
			t.Errorf("%s takes %d lines", flag, lines)
		}
	}
	s.check(tab, "a card with many flags")
	tab.Click(".card button.deny")
	<-held
}

func historyInBrowser(t *testing.T, s *surf) {
	s.allow(call{tool: "web_fetch", params: `{"url":"https://example.com/backup"}`, context: ownerIn("main")})
	held := s.asks(sh("make deploy", unvouched("x")))
	s.refuse(s.waits().Ref, "")
	<-held
	tab := s.login(webtest.Phone)
	tab.Timezone("Asia/Kolkata")
	s.open(tab, "history")
	tab.Text("Fetch https://example.com/backup")
	var rows []string
	tab.Eval(`[...document.querySelectorAll(".calls summary")].map(e => e.textContent.replace(/\s+/g, " ").trim())`, &rows)
	if want := []string{"✗denied just now Run: make deploy owner", "✓allowed just now Fetch https://example.com/backup policy"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q", rows)
	}
	var when struct{ At, Shown string }
	tab.Eval(`(() => { const e = document.querySelector(".calls dd time"); return {At: e.dateTime, Shown: e.textContent} })()`, &when)
	at, err := time.Parse(time.RFC3339, when.At)
	kolkata := time.FixedZone("Asia/Kolkata", 5*3600+1800)
	if err != nil || when.Shown != at.In(kolkata).Format("03:04 PM") {
		t.Errorf("%s is shown as %s: %v", when.At, when.Shown, err)
	}
	tab.Eval(`Date.now = () => Date.parse(document.querySelector(".calls time").dateTime) + 5 * 60000`, nil)
	tab.Text("5 min ago")
}

func staleInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Phone)
	held := s.asks(sh("make deploy", unvouched("x")))
	tab.Click(".card button.deny")
	tab.Text("Denied by owner")
	<-held
	tab.Eval(`(() => { const now = Date.now; Date.now = () => now() + 11000 })()`, nil)
	tab.Wait("it is no news any more", `!document.body.innerText.includes("Denied by owner")`)
}

func offlineInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Phone)
	tab.Text("Nothing waits")
	s.g.page.Stop() // ends the streams and takes no more
	tab.Text("No connection")
	var text string
	tab.Eval("document.body.innerText", &text)
	if strings.Contains(text, "Nothing waits") {
		t.Errorf("it says so without knowing:\n%s", text)
	}
}

func keysInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Desk)
	held := s.asks(sh("make deploy", inGroup("x")))
	second := s.asks(sh("make test", inGroup("y")))
	tab.Text("make test")
	tab.Wait("it has settled", `!document.querySelector(".settling")`)
	tab.Press("?")
	tab.Wait("the keys are listed", `document.querySelector("#keys").open`)
	s.check(tab, "the list of keys")
	tab.Press("d") // not while it is open
	tab.Press("Escape")
	tab.Wait("Escape closes it", `!document.querySelector("#keys").open`)
	tab.Press("j")
	tab.Press("j")
	tab.Wait("j goes to the next", `document.activeElement.matches(".queue a")`)
	tab.Press("k")
	tab.Wait("k goes back", `document.activeElement.matches(".card")`)
	tab.Press("d")
	tab.Text("Denied by owner")
	if a := <-held; a.allowed() {
		t.Errorf("the first: %s", a.raw)
	}
	tab.Wait("the second can be answered", `document.querySelector(".card.seen [data-key=a]") && !document.querySelector(".settling")`)
	tab.Press("a")
	tab.Text("Approved once by owner")
	if a := <-second; !a.allowed() {
		t.Errorf("the second: %s", a.raw)
	}
}

// TestH225NoKeyAllowsWhatIsNotWhollyVisible presses a where one tap would not be enough, and where the key is a letter.
func TestH225NoKeyAllowsWhatIsNotWhollyVisible(t *testing.T) {
	t.Parallel()
	s := &surf{rig: newRig(t, unhurried), browser: webtest.Start(t)}
	tab := s.login(webtest.Desk)
	quiet := func(what string, held <-chan answer) {
		t.Helper()
		tab.Wait("it has settled", `document.querySelector(".card") && !document.querySelector(".settling")`)
		var posted bool
		tab.Eval(`(() => { window.posted = false; document.addEventListener("submit", () => { window.posted = true }, true) })()`, nil)
		tab.Press("a")
		if tab.Eval("window.posted", &posted); posted {
			t.Errorf("%s: the key sends an answer", what)
		}
		select {
		case a := <-held:
			t.Errorf("%s: %s", what, a.raw)
		default:
		}
	}
	deny := func(held <-chan answer) {
		tab.Press("d")
		if a := <-held; a.allowed() {
			t.Errorf("denied: %s", a.raw)
		}
		s.open(tab, "")
	}
	held := s.asks(sh("echo "+strings.Repeat("x; echo ", 900)+"done", unvouched("x")))
	tab.Text("Read all of it to allow")
	quiet("a call that is not wholly visible", held)
	deny(held)
	held = s.asks(sh("make deploy", inGroup("z")))
	tab.Wait("one tap would be enough", `document.querySelector("[data-key=a]")`)
	openMore(tab)
	tab.Click(".because input[name=reason]")
	quiet("a letter of a reason", held)
	tab.Wait("it is typed", `document.querySelector(".because input[name=reason]").value === "a"`)
	tab.Eval(`document.activeElement.blur(); document.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true}))`, nil) // by a script
	if n := len(s.pending()); n != 1 {
		t.Errorf("%d questions wait", n)
	}
	deny(held)
}

// testQuestionInBrowser sends one and says yes: it reads as a test, is recorded as one and lets nothing pass.
func testQuestionInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Phone)
	tab.Click(`form[action="/page/test"] button`)
	tab.Text("Test question: nothing runs, whatever you answer")
	s.check(tab, "a test question")
	tab.Click(".card button.allow")
	tab.Text("Approved once by owner")
	tab.Text("Nothing waits")
	var kinds []string
	for _, l := range s.kept() {
		if l.Tool == approval.TestTool {
			kinds = append(kinds, string(l.Kind))
			if l.Note == "" || l.Client != approval.TestTool {
				t.Errorf("it is recorded as %+v", l.Entry)
			}
		}
	}
	if want := []string{string(audit.KindAsked), string(audit.KindAnswer)}; !slices.Equal(kinds, want) {
		t.Errorf("the record has %q", kinds)
	}
}
