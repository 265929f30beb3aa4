package main

import (
	"bytes"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// loginLink is what `verifier login` prints.
func (r *rig) loginLink(args ...string) string {
	r.t.Helper()
	out, warned := &bytes.Buffer{}, &bytes.Buffer{}
	if code := run(r.t.Context(), append([]string{"login", "--url", r.url, "--state", r.state.Dir()}, args...), out, warned); code != exitOK {
		r.t.Fatalf("login: %d\n%s%s", code, out, warned)
	}
	if !strings.Contains(warned.String(), "good once") {
		r.t.Errorf("login does not say that the link is good once: %s", warned)
	}
	return strings.TrimSpace(out.String())
}

// visit is a browser without a screen: it keeps cookies, says where it comes from
// and sends its session, as the page's script does.
type visit struct {
	*rig
	client  *http.Client
	session string
}

func (r *rig) visit() *visit {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	transport := &http.Transport{}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &visit{rig: r, client: &http.Client{Jar: jar, Transport: transport, Timeout: 20 * time.Second}}
}

func (v *visit) load(method, target string, form url.Values) (int, string) {
	v.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = v.url + target
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", v.url)
	}
	if v.session != "" {
		req.Header.Set("X-Verifier-Session", v.session)
	}
	a := exchange(v.t, v.client, req)
	return a.status, string(a.body)
}

// enter follows a login link.
func (v *visit) enter(link string) string {
	v.t.Helper()
	_, text, _ := strings.Cut(link, "link=")
	status, body := v.load(http.MethodPost, "/page/login", url.Values{"link": {text}})
	if status != http.StatusOK {
		v.t.Fatalf("logging in gave %d\n%s", status, body)
	}
	v.session = body
	if _, body = v.load(http.MethodGet, "/page/", nil); !strings.Contains(body, "Log out") {
		v.t.Fatalf("the session shows\n%s", body)
	}
	return body
}

// cardID is the id of an open card.
func (r *rig) cardID(ref string) string {
	r.t.Helper()
	cards, _, err := r.desk.Waiting(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range cards {
		if c.Ref() == ref {
			return c.ID
		}
	}
	r.t.Fatalf("no card has the reference %s", ref)
	return ""
}
