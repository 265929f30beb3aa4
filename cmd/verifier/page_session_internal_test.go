package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/web/webtest"
)

// neighbour is a server on another port of the gateway's host, such as a dev
// server with an evil dependency. It keeps what browsers send it.
type neighbour struct {
	*httptest.Server
	mu  sync.Mutex
	got []http.Header
}

func newNeighbour(t *testing.T, page string) *neighbour {
	t.Helper()
	n := &neighbour{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.got = append(n.got, r.Header.Clone())
		n.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		if _, err := io.WriteString(w, page); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(n.Close)
	return n
}

// evilPage tries all that a page of another port can: it reads, posts, frames,
// opens, and asks the page for its session. What it finds out it notes.
const evilPage = `<button id=go>See your build</button><a id=deep href="%[1]s/page/cards/%[3]s">our card</a>
<iframe id=frame src="%[1]s/page/"></iframe><script>
window.loot = [];
addEventListener("message", e => loot.push("a message: " + JSON.stringify(e.data)));
const noted = (what, p) => p.then(x => { if (x) loot.push(what + ": " + x); }, () => {});
const form = new URLSearchParams({handle: "%[2]s", what: "pause"});
const store = () => new Promise((resolve, reject) => { const r = indexedDB.open("verifier"); r.onerror = reject; r.onsuccess = () => resolve([...r.result.objectStoreNames].join()); });
window.tried = Promise.all([
  noted("read", fetch("%[1]s/page/", {credentials: "include"}).then(r => r.text())),
  noted("read with a header", fetch("%[1]s/page/", {credentials: "include", headers: {"X-Verifier-Session": "x"}}).then(r => r.text())),
  noted("read the stream", fetch("%[1]s/page/events", {credentials: "include"}).then(r => r.text())),
  noted("post", fetch("%[1]s/page/answer", {method: "POST", body: form, credentials: "include"}).then(r => r.text())),
  noted("post unseen", fetch("%[1]s/page/answer", {method: "POST", body: form, credentials: "include", mode: "no-cors"}).then(r => r.text())),
  noted("pause unseen", fetch("%[1]s/page/say", {method: "POST", body: form, credentials: "include", mode: "no-cors"}).then(r => r.text())),
  noted("cookies", Promise.resolve(document.cookie)),
  noted("what is kept", store()),
]);
document.getElementById("go").onclick = () => {
  window.opened = open("%[1]s/page/");
};
window.away = () => { try { return opened.closed || opened.location.href === "never"; } catch { return true; } };
window.reach = () => {
  for (const w of [opened, document.getElementById("frame").contentWindow]) {
    try { w.postMessage({want: "session"}, "*"); } catch {}
    try { if (w.document) loot.push("a document: " + w.document.body.innerText); } catch {}
  }
};
</script>`

// anotherPort opens a page of another port in the browser that is logged in.
func anotherPort(t *testing.T, s *surf) {
	tab := s.login(webtest.Desk)
	held := s.hold(tainted(s.rig, "exec", installer))
	tab.Text("install.sh")
	var handle, id string
	tab.Eval(`document.querySelector("button.allow").form.elements.handle.value`, &handle)
	tab.Eval(`document.querySelector("article.card").id.replace("card-", "")`, &id)
	evil := newNeighbour(t, fmt.Sprintf(evilPage, s.url, handle, id))
	other := s.browser.Open(s.person, webtest.Desk)
	other.Go(evil.URL)
	other.Click("#go")
	other.Wait("the page that was opened is there", `window.opened && window.away()`)
	other.Eval(`window.tried.then(window.reach)`, nil)
	var loot []string
	other.Eval(`window.loot`, &loot)
	if len(loot) > 0 {
		t.Errorf("the other port got %q", loot)
	}
	s.replayed(evil, handle)
	select {
	case a := <-held:
		t.Fatalf("the call was answered: %s", a.raw)
	default:
	}
	if s.desk.Pauses.Text() != "" {
		t.Error("the other port paused the agent")
	}
	other.Click("#deep") // a link from anywhere still opens the page for the owner
	other.Text("digest")
	other.Click("button.deny")
	other.Text("Denied by owner")
	<-held
	tab.Text("Nothing waits")
}

// replayed has the other server send what it was sent, as if it were the page.
func (s *surf) replayed(evil *neighbour, handle string) {
	s.t.Helper()
	evil.mu.Lock()
	defer evil.mu.Unlock()
	if len(evil.got) == 0 {
		s.t.Fatal("the browser asked the other server for nothing")
	}
	for _, h := range evil.got {
		if h.Get("Cookie") != "" || h.Get("Authorization") != "" || h.Get("X-Verifier-Session") != "" {
			s.t.Errorf("the browser sent %v", h)
		}
		for _, path := range []string{"/page/", "/page/record", "/page/record/export", "/page/events"} {
			if body := s.replay(http.MethodGet, path, h, nil); strings.Contains(body, "install.sh") || strings.Contains(body, "Log out") || strings.Contains(body, "hello") {
				s.t.Errorf("replayed at %s it shows\n%s", path, body)
			}
		}
		for _, path := range []string{"/page/answer", "/page/say"} {
			if body := s.replay(http.MethodPost, path, h, url.Values{"handle": {handle}, "what": {"pause"}}); !strings.Contains(body, "You are not logged in") {
				s.t.Errorf("replayed at %s: %s", path, body)
			}
		}
	}
}

func (s *surf) replay(method, path string, h http.Header, form url.Values) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = h.Clone()
	req.Header.Del("Accept-Encoding")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", s.url)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return string(exchange(s.t, http.DefaultClient, req).body)
}

// loginInBrowser opens a deep link without a login, logs in by token, and out.
func loginInBrowser(t *testing.T, s *surf) {
	s.person = s.browser.Person()
	tab := s.browser.Open(s.person, webtest.Phone)
	tab.Go(s.url + "/page/record?kind=note")
	tab.Text("Your token")
	s.check(tab, "the login by token")
	tab.Type("#token", s.token)
	tab.Press("Enter")
	tab.Wait("it is where the link led", `document.querySelector(".entries")?.textContent.includes("logged in on the page")`)
	var kept int
	tab.Eval(`document.cookie.length + localStorage.length + sessionStorage.length`, &kept)
	if kept > 0 {
		t.Errorf("the page keeps something outside of its store")
	}
	// A service worker can use what the page keeps: the file runs without a window.
	tab.Eval(`navigator.serviceWorker.register(document.querySelector("script[src*='session.js']").src).then(r => r.unregister())`, nil)
	second := s.browser.Open(s.person, webtest.Desk)
	s.open(second, "")
	second.Text("Nothing waits")
	tab.Click(".tabmore > summary")
	tab.Click(".sheet .logout button")
	tab.Text("Your token")
	second.Text("Your token") // by itself
	// A link that was used says so, and asks for the token.
	link := s.loginLink()
	s.visit().enter(link)
	tab.Go(link)
	tab.Text("was used or is too old")
	tab.Wait("the link has left the address", `location.hash === ""`)
}

// exportInBrowser saves the record, by its button and by its address.
func exportInBrowser(t *testing.T, s *surf) {
	tab := s.login(webtest.Desk)
	s.open(tab, "record")
	tab.Eval(`{ const made = URL.createObjectURL; URL.createObjectURL = (b) => { b.text().then(x => { window.saved = x; }); return made.call(URL, b); } }`, nil)
	tab.Click("a[download]")
	tab.Wait("it has the record", `window.saved?.includes("logged in on the page")`)
	s.check(tab, "the record after an export")
	tab.Go(s.url + "/page/record/export")
	tab.Text("The file is saved")
}

func TestH117AnOpenPageEndsWithTheOwnersToken(t *testing.T) {
	t.Parallel()
	const first, next = "ownerToken: 3f9a81c07be24d5596a2\n", "ownerToken: 77d0e6b1a94c4f2f8c13\n"
	r, write := reloading(t, first)
	r.token = "3f9a81c07be24d5596a2"
	link, _, err := r.g.page.Link(t.Context(), "owner", false)
	if err != nil {
		t.Fatal(err)
	}
	v := r.visit()
	v.enter(link)
	stream := v.stream()
	defer stream.Close()
	write(next)
	began := time.Now()
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the stream went on for %s", took)
	}
	if status, _ := v.load(http.MethodGet, "/page/", nil); status != http.StatusUnauthorized {
		t.Errorf("the session of the old token: %d", status)
	}
}
