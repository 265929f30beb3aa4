package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/test/gateway"
)

// browser is one without a screen: it says where it comes from and sends its session, as the page's script does.
type browser struct {
	t       *testing.T
	g       *gateway.Gateway
	session string
}

func (b *browser) load(method, path string, form url.Values, headers ...string) gateway.Raw {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.g.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.g.URL)
	}
	if b.session != "" {
		req.Header.Set("X-Verifier-Session", b.session)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	return b.g.Do(req)
}

// enter follows the link that `verifier login` prints.
func enter(t *testing.T, g *gateway.Gateway, flags ...string) *browser {
	t.Helper()
	out, code := g.Run(append([]string{"login", "--url", g.URL}, flags...)...)
	_, link, found := strings.Cut(out, "link=")
	if code != 0 || !found {
		t.Fatalf("login: %d\n%s", code, out)
	}
	link, _, _ = strings.Cut(link, "\n")
	b := &browser{t: t, g: g}
	a := b.load(http.MethodPost, "/page/login", url.Values{"link": {strings.TrimSpace(link)}})
	if a.Status != http.StatusOK {
		t.Fatalf("logging in gave %d\n%s", a.Status, a.Body)
	}
	b.session = string(a.Body)
	return b
}

// handle is the value of the button with a label.
func handle(page []byte, label string) string {
	before, _, _ := strings.Cut(string(page), ">"+label+"<")
	at := strings.LastIndex(before, `name="handle"`)
	if at < 0 {
		return ""
	}
	_, value, _ := strings.Cut(before[at:], `value="`)
	value, _, _ = strings.Cut(value, `"`)
	return value
}

func TestH51H52WhatAnAgentWroteIsInertAndOnlyThePageAnswers(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "webhook: {hold: 30s, maxHold: 60s}\n")
	b := enter(t, g)
	held := g.Hold(run(`echo "<script>alert(1)</script><img src=x onerror=alert(1)>"`, unattested("m")))
	g.Waits()
	page := b.load(http.MethodGet, "/page/", nil)
	if text := string(page.Body); strings.Contains(text, "<script>alert") || strings.Contains(text, "<img src=x") ||
		!strings.Contains(text, "&lt;script&gt;") {
		t.Errorf("what the agent wrote is not inert:\n%s", text)
	}
	csp := page.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe-inline") ||
		page.Header.Get("X-Frame-Options") != "DENY" && !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("the page's headers: %v", page.Header)
	}
	form := url.Values{"handle": {handle(page.Body, "Allow once")}}
	if form.Get("handle") == "" {
		t.Fatalf("no button on\n%s", page.Body)
	}
	for name, headers := range map[string][]string{
		"another origin": {"Origin", "https://evil.example"}, "no origin": {"Origin", "null"},
		"another host":   {"Host", "evil.example"},
		"from elsewhere": {"Sec-Fetch-Site", "cross-site"}, "no session": {"X-Verifier-Session", ""},
	} {
		if a := b.load(http.MethodPost, "/page/answer", form, headers...); a.Status < 400 || a.Status >= 500 {
			t.Errorf("%s: %d\n%s", name, a.Status, a.Body)
		}
	}
	if a := b.load(http.MethodGet, "/page/answer?"+form.Encode(), nil); a.Status < 400 {
		t.Errorf("a GET answers: %d", a.Status)
	}
	viewer := enter(t, g, "--viewer")
	if a := viewer.load(http.MethodPost, "/page/answer", form); a.Status < 400 {
		t.Errorf("a viewer answers: %d\n%s", a.Status, a.Body)
	}
	if len(g.Pending()) != 1 {
		t.Fatal("the question was answered")
	}
	if a := b.load(http.MethodPost, "/page/answer", form); !strings.Contains(string(a.Body), "Approved once by owner") {
		t.Errorf("the page says\n%s", a.Body)
	}
	if a := <-held; !a.Allowed() {
		t.Errorf("the call: %s", a.Raw)
	}
}

func TestThePageCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "web: {enabled: false}\n")
	for _, path := range []string{"/", "/page/", "/page/login"} {
		if status, text := g.Page(path); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if out, code := g.Run("login", "--url", g.URL); code == 0 {
		t.Errorf("login: %s", out)
	}
}
