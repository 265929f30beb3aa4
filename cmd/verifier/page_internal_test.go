package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
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

// stream opens what the page reads its changes from.
func (v *visit) stream() io.ReadCloser {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.url+"/page/events", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("X-Verifier-Session", v.session)
	res, err := v.client.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		v.t.Fatal(res, err)
	}
	return res.Body
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

// field is a value that stands on a page, before the button that is named.
func field(page, name, button string) string {
	page, _, _ = strings.Cut(page, ">"+button+"<")
	_, value, _ := strings.Cut(page[strings.LastIndex(page, `name="`+name+`"`):], `value="`)
	value, _, _ = strings.Cut(value, `"`)
	return value
}

func TestACallIsReleasedFromThePage(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		v := r.visit()
		if status, body := v.load(http.MethodGet, "/", nil); status != http.StatusOK || !strings.Contains(body, "Your token") {
			t.Errorf("the server's address shows %d\n%s", status, body)
		}
		v.enter(r.loginLink())
		held := r.hold(call{tool: "exec", params: `{"command":"make deploy"}`, context: with(ownerIn("main"), "senderIsOwner", false)})
		r.waits()
		_, page := v.load(http.MethodGet, "/page/", nil)
		_, page = v.load(http.MethodPost, "/page/answer", url.Values{"handle": {field(page, "handle", "Allow once")}})
		if !strings.Contains(page, "Approved once by owner") {
			t.Errorf("the page says\n%s", page)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("the call: %s", a.raw)
		}
		looker := r.visit()
		if page := looker.enter(r.loginLink("--viewer")); !strings.Contains(page, "may look") {
			t.Errorf("a viewer sees\n%s", page)
		}
	})
}

func TestThePageCanBeSwitchedOff(t *testing.T) {
	r := newRig(t, func(c *config.Config) { c.Web.Enabled = false })
	for _, path := range []string{"/", "/page/", "/page/login"} {
		if status, body := r.visit().load(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	t.Setenv("VERIFIER_OWNER_TOKEN", r.token)
	out := &bytes.Buffer{}
	if code := run(t.Context(), []string{"login", "--url", r.url}, out, out); code != exitError {
		t.Errorf("login: %d %s", code, out)
	}
}

func TestOpenPagesDoNotHoldUpTheEnd(t *testing.T) {
	r := newRig(t, nil)
	v := r.visit()
	v.enter(r.loginLink())
	stream := v.stream()
	defer stream.Close()
	dialer := net.Dialer{} // browsers connect in advance, and say nothing
	silent, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	r.allow(call{tool: "read", context: ownerIn("main")}) // it has been accepted by now
	began := time.Now()
	r.quit()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the gateway took %s to end", took)
	}
}
