package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// The odd signatures, paths and methods themselves are rows of test/hostile/transport.txt.
func TestH01ACallThatIsNotSignedTouchesNothing(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	main := gateway.OwnerIn("main")
	g.Allow(gateway.Sh("date", main))
	lines := len(g.Entries())
	taints := gateway.Fetch(main)
	taints.ID = "stolen-id"
	asks := gateway.Sh("id", unvouched("x"))
	asks.ID = "stolen-id-2"
	for _, c := range []gateway.Call{taints, asks} {
		body := c.Body()
		for _, signature := range []string{"", hmac.Sign([]byte("some0ther5ecret"), body), strings.Repeat("0", 64)} {
			if a := g.Post(body, signature); a.Status != http.StatusUnauthorized {
				t.Errorf("%q: got %d %s, want 401", signature, a.Status, a.Raw)
			}
		}
	}
	if cards, now := len(g.Pending()), len(g.Entries()); cards != 0 || now != lines {
		t.Errorf("%d cards wait, and the record grew from %d to %d lines", cards, lines, now)
	}
	if _, text := g.Page("/metrics"); !strings.Contains(text, "\nverifier_unauthenticated_total 6\n") {
		t.Errorf("the rejected calls are not counted:\n%s", text)
	}
	// The ids were not used up, and the conversation is as clean as before.
	again := read("a", main)
	again.ID = "stolen-id"
	g.Allow(again)
	g.Allow(gateway.Sh("date", main))
}

func TestH03TheSameRequestAgainGetsTheSameDecision(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, "", func(t *testing.T, g *gateway.Gateway) {
		main := gateway.OwnerIn("main")
		bodies := map[string][]byte{}
		for id, c := range map[string]gateway.Call{
			"clean": gateway.Sh("date", main), "fetch": gateway.Fetch(main),
			"ours": read(g.State.Dir()+"/owner.token", main),
		} {
			c.ID = id
			bodies[id] = c.Body()
		}
		for range 3 { // the second time, the conversation is tainted
			for _, id := range []string{"clean", "fetch", "ours"} {
				if a := g.Again(bodies[id]); a.Allowed() != (id != "ours") {
					t.Errorf("%s: got %d %s", id, a.Status, a.Raw)
				}
			}
		}
		for id := range bodies {
			eventually(t, id+" is recorded", func() bool { return len(g.About(id)) >= 3 })
			if all := g.About(id); all[0].Replay || !all[len(all)-1].Replay {
				t.Errorf("%s is recorded as %+v", id, all)
			}
		}

		held := gateway.Sh("ls", stranger("x"))
		held.ID = "held"
		body := held.Body()
		var waiting []<-chan gateway.Answer
		for range 4 { // who sends it again joins the wait
			waiting = append(waiting, g.Later(t.Context(), body))
			g.Waits()
		}
		card := g.Waits()
		g.Approve(card.Ref, 0)
		for _, h := range waiting {
			if a := <-h; !a.Allowed() {
				t.Errorf("got %s", a.Raw)
			}
		}
		if a := g.Again(body); !a.Allowed() || g.Asked() != 1 {
			t.Errorf("after the yes: %s, %d questions", a.Raw, g.Asked())
		}
		if all := g.About("held"); all[len(all)-1].By != "replay" {
			t.Errorf("the record says that %s allowed the replay: no rule did", all[len(all)-1].By)
		}
		// One yes is one call, however often it was replayed.
		if a := g.Ask(gateway.Sh("ls", stranger("x"))); a.Ref == card.Ref {
			t.Errorf("an identical call joins the old question: %s", a.Raw)
		}
		refused := gateway.Sh("ls -l", stranger("x"))
		body = refused.Body()
		no := g.Later(t.Context(), body)
		g.Refuse(g.Waiting(2)[1].Ref, "No.")
		if first, again := <-no, g.Again(body); first.Allowed() || again.Allowed() {
			t.Errorf("a no, and then: %s, %s", first.Raw, again.Raw)
		}
	})
}

// A caller whose connection was lost has heard no decision: the same request may still wait for one.
func TestH03AResentRequestWaitsOnAfterTheFirstConnectionIsLost(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	c := gateway.Sh("date", stranger("x"))
	c.ID = "one"
	body := c.Body()
	ctx, hangUp := context.WithCancel(t.Context())
	first := g.Later(ctx, body)
	card := g.Waits()
	second := g.Later(t.Context(), body)
	hangUp()
	<-first
	g.About("one") // the first is recorded as gone
	if v := g.Approve(card.Ref, 0); v.Kind != "counted" {
		t.Errorf("the owner is told %+v", v)
	}
	if a := <-second; !a.Allowed() {
		t.Errorf("the second got %s", a.Raw)
	}
	if a := g.Again(body); !a.Allowed() || g.Asked() != 1 {
		t.Errorf("a third got %s after %d questions", a.Raw, g.Asked())
	}
}

func TestH04TheSameIDWithAnotherBodyIsDenied(t *testing.T) {
	t.Parallel()
	gateway.OnBoth(t, "", func(t *testing.T, g *gateway.Gateway) {
		with := func(c gateway.Call, id string) gateway.Call { c.ID = id; return c }
		main := gateway.OwnerIn("main")
		first := with(read("a", main), "one").Body()
		if a := g.Again(first); !a.Allowed() {
			t.Fatalf("got %s", a.Raw)
		}
		older := with(read("a", main), "one")
		older.At = time.Now().Add(-time.Minute)
		for _, c := range []gateway.Call{with(gateway.Sh("date", main), "one"), with(read("b", main), "one"), older} {
			if a := g.Deny(c); a.Reason != "This request id was already used for another call." {
				t.Errorf("%s: got %s", c.Params, a.Raw)
			}
		}
		if a := g.Again(first); !a.Allowed() {
			t.Errorf("the first body again got %s", a.Raw)
		}
		g.Allow(with(read("b", gateway.OwnerIn("other")), "one")) // in another conversation it is another request
		held := g.Hold(with(gateway.Sh("date", stranger("x")), "two"))
		card := g.Waits()
		g.Deny(with(gateway.Sh("id", stranger("x")), "two"))
		g.Approve(card.Ref, 0)
		if a := <-held; !a.Allowed() {
			t.Errorf("the one that waited got %s", a.Raw)
		}
		g.Deny(with(gateway.Sh("id", stranger("x")), "two"))
	})
}

// Secrets that no list of bad ones knows.
const (
	laptopSecret = "7d1c5a90b3e84f26a1d09c4e"
	phoneSecret  = "e42b8f6017c95da3308b6ef1"
	oldSecret    = "91f3c7a25e0d4b86c2f7a03d"
	bearerSecret = "5b0e9d27c8f1436aa94e7d10"
)

func TestH06ARotatedSecretIsDeadAfterTheReload(t *testing.T) {
	t.Parallel()
	clients := func(laptop string) string {
		return "webhook: {hold: 5s, maxHold: 10s, clients: {laptop: [" + laptop + "], phone: [" + phoneSecret + "]}}\n"
	}
	g := gateway.Start(t, clients(oldSecret))
	before, now, phone, main := g.By(oldSecret), g.By(laptopSecret), g.By(phoneSecret), gateway.OwnerIn("main")
	before.Allow(gateway.Sh("date", main))
	if a := now.Send(read("a", main)); a.Status != http.StatusUnauthorized {
		t.Errorf("a secret that is not configured yet gets %d", a.Status)
	}
	g.Reload(clients(laptopSecret + ", " + oldSecret))
	fetch := gateway.Fetch(main)
	fetch.ID = "one"
	for _, by := range []*gateway.Gateway{before, now} { // signed anew, it is the same request
		if a := by.Again(fetch.Body()); !a.Allowed() && a.Status == http.StatusUnauthorized {
			t.Errorf("got %d %s", a.Status, a.Raw)
		}
	}
	now.Ask(gateway.Sh("date", main)) // under both secrets it is one conversation
	g.Reload(clients(laptopSecret))
	if a := before.Send(read("a", main)); a.Status != http.StatusUnauthorized {
		t.Errorf("the removed secret gets %d %s", a.Status, a.Raw)
	}
	now.Allow(read("a", main))
	phone.Allow(gateway.Sh("date", main)) // the laptop's taint is not the phone's
	if text := g.Log.String(); strings.Contains(text, oldSecret) || strings.Contains(text, laptopSecret) {
		t.Error("the log holds a secret")
	}
}

func TestTwoClientsShareNeitherTaintNorGrantsNorReplays(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "webhook: {hold: 5s, clients: {laptop: ["+laptopSecret+"], phone: ["+phoneSecret+"]}}\n")
	laptop, phone, main := g.By(laptopSecret), g.By(phoneSecret), gateway.OwnerIn("main")
	same := gateway.Fetch(main)
	same.ID = "same"
	laptop.Allow(same)
	phone.Allow(gateway.Sh("date", main))
	other := read("a", main)
	other.ID = "same"
	phone.Allow(other)
	laptop.Consented(gateway.Sh("date", main), 30)
	laptop.Allow(gateway.Sh("date", main))
	phone.Allow(gateway.Fetch(main))
	phone.Ask(gateway.Sh("date", main)) // nor is its grant
	// A yes for the phone's call is not the laptop's, though all else is the same.
	a := phone.Ask(gateway.Sh("curl -s https://example.com", main))
	phone.Approve(a.Ref, 0)
	laptop.Ask(gateway.Sh("curl -s https://example.com", main))
	phone.Allow(gateway.Sh("curl -s https://example.com", main))
}

func TestTheBearerIsNeededBesidesTheSignature(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "webhook: {hold: 5s, bearer: "+bearerSecret+"}\n")
	body := read("a", gateway.OwnerIn("main")).Body()
	for name, tt := range map[string]struct {
		headers []string
		want    int
	}{
		"signature alone": {[]string{hmac.RequestHeader, g.Sign(body)}, 401},
		"bearer alone":    {[]string{"Authorization", "Bearer " + bearerSecret}, 401},
		"another bearer":  {[]string{hmac.RequestHeader, g.Sign(body), "Authorization", "Bearer " + g.Token}, 401},
		"both":            {[]string{hmac.RequestHeader, g.Sign(body), "Authorization", "Bearer " + bearerSecret}, 200},
	} {
		if status, text := g.Request(http.MethodPost, "/verify", body, tt.headers...); status != tt.want {
			t.Errorf("%s: got %d %s, want %d", name, status, text, tt.want)
		}
	}
	if status := g.As(bearerSecret, http.MethodGet, "/owner/pending", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("the clients' bearer opens the owner's door: %d", status)
	}
}

func TestH75NoOtherSecretOpensTheOwnersDoor(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	ref := g.Ask(gateway.Sh("date", unvouched("m"))).Ref
	key, err := g.State.ServerKey()
	if err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{
		"the webhook's secret": g.Secret, "the server key": fmt.Sprintf("%x", key), "nothing": "",
		"a code": g.Waits().Code(t), "a prefix": g.Token[:20], "twice": g.Token + g.Token,
	} {
		in := map[string]any{"ref": ref, "allow": true}
		if status := g.As(token, http.MethodPost, "/owner/answer", in, nil); status != http.StatusUnauthorized {
			t.Errorf("%s as the owner's token: %d", what, status)
		}
	}
	if len(g.Pending()) != 1 {
		t.Error("the question was answered")
	}
}

func TestH07AnEmptyOrPlaceholderSecretDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":                 `webhook: {secret: ""}`,
		"a placeholder":         `webhook: {secret: changeme}`,
		"an example's variable": `webhook: {secret: "${GUESSABLE_SECRET}"}`,
		"an empty variable":     `webhook: {secret: "${EMPTY_SECRET}"}`,
		"no such file":          `webhook: {secret: "file:missing"}`,
		"short":                 `webhook: {secret: a1b2c3d4}`,
		"an empty list":         `webhook: {secrets: []}`,
		"a client without":      `webhook: {clients: {laptop: []}}`,
		"the documents' vector": `webhook: {secret: docs-example-not-a-secret-0123456789}`,
		"an empty owner token":  `ownerToken: ""`,
		"a guessable token":     `ownerToken: owner-token-owner-token`,
	} {
		printed, code := program(t, text+"\n", "serve", "--listen", "127.0.0.1:0")
		if code != 1 || !strings.Contains(printed, "error: ") || !strings.Contains(printed, "hint: ") {
			t.Errorf("%s: exit code %d\n%s", name, code, printed)
		}
		if !strings.Contains(printed, "openssl rand -hex 32") && !strings.Contains(printed, "_SECRET a value") {
			t.Errorf("%s: it does not say how to make one:\n%s", name, printed)
		}
	}
	for _, kept := range []string{"", "changeme", "abc"} { // in the state directory
		g := gateway.Start(t, "")
		g.Quit()
		if err := os.WriteFile(filepath.Join(g.State.Dir(), "webhook.secret"), []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, code := g.Run("serve", "--listen", "127.0.0.1:0"); code != 1 ||
			!strings.Contains(out, "so that serve makes a new one") {
			t.Errorf("%q: exit code %d\n%s", kept, code, out)
		}
	}
}

func TestH08ABodyOverTheCapIsDeniedAndNotJudged(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	long := func(n int) []byte { return read(strings.Repeat("x", n), gateway.OwnerIn("main")).Body() }
	for _, size := range []int{protocol.MaxBody, 8 * protocol.MaxBody} {
		body := long(size)
		status, text := g.Request(http.MethodPost, "/verify", body, hmac.RequestHeader, g.Sign(body))
		if status != http.StatusOK || !strings.Contains(text, `"decision":"deny"`) ||
			!strings.Contains(text, "larger than 1 MiB") {
			t.Errorf("%d bytes: got %d %s", size, status, text)
		}
	}
	if n := len(g.Decided()); n != 0 {
		t.Errorf("%d decisions are in the record: anyone could fill the disk", n)
	}
	if a := g.Again(long(protocol.MaxBody - len(long(0)) - 64)); !a.Allowed() {
		t.Errorf("just below the cap: %d %.200s", a.Status, a.Raw)
	}
}

// Headers that never end, bodies that never come or never end, and callers that hang up while they wait: others are
// served meanwhile, and nothing of them is left behind.
func TestH08WhatNeverEndsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "webhook: {hold: 1m, maxHold: 1m}\n")
	g.Allow(read("a", gateway.OwnerIn("main")))
	before := g.OpenFiles()
	var conns []net.Conn
	for i := range 30 {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(g.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		start := "POST /verify HTTP/1.1\r\nHost: x\r\n"
		switch i % 3 {
		case 0: // the headers never end
		case 1: // the body never comes
			start += "Content-Length: 1000000\r\n\r\n{"
		case 2: // the body never ends
			start += "Transfer-Encoding: chunked\r\n\r\n" +
				strings.Repeat("1000\r\n"+strings.Repeat("x", 4096)+"\r\n", 2400)
		}
		if _, err := io.WriteString(c, start); err != nil && i%3 != 2 {
			t.Fatal(err)
		}
		if i%3 == 2 {
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("a body that never ends got no answer: %v", err)
			}
			if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK ||
				!strings.Contains(string(text), `"deny"`) {
				t.Errorf("got %d %s", res.StatusCode, text)
			}
			_ = res.Body.Close()
		}
	}
	g.Allow(read("b", gateway.OwnerIn("main")))
	ctx, hangUp := context.WithCancel(t.Context())
	var held []<-chan gateway.Answer
	for range 20 {
		held = append(held, g.Later(ctx, gateway.Sh("date", stranger("x")).Body()))
	}
	g.Waits()
	hangUp()
	for _, h := range held {
		<-h
	}
	for _, c := range conns {
		_ = c.Close()
	}
	eventually(t, "the connections are gone", func() bool { return g.OpenFiles() <= before+2 })
}

// A client writes all of its body before it reads. It must get the answer then, and no broken connection.
func TestH08AClientThatIsStillWritingGetsTheDeny(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(g.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const size = 8 << 20 // more than the sockets hold
	head := fmt.Sprintf("POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
	if _, err := io.WriteString(c, head+strings.Repeat("x", size)); err != nil {
		t.Fatalf("the server hung up: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK ||
		!strings.Contains(string(text), `"deny"`) {
		t.Errorf("got %d %s, %v", res.StatusCode, text, err)
	}
}

// Two readers of one stream that disagree about where a request ends let one in by the other's leave.
func TestH74ASecondRequestInsideABodyIsNotOurs(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	inner := "POST /owner/reply HTTP/1.1\r\nHost: x\r\nContent-Length: 18\r\n\r\n{\"text\":\".pause\"}\r\n"
	for name, head := range map[string]string{
		"two lengths":         "Content-Length: 0\r\nContent-Length: %d\r\n",
		"a length and chunks": "Content-Length: %d\r\nTransfer-Encoding: chunked\r\n",
		"odd chunks":          "Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n",
		"a folded header":     "Content-Length:\r\n %d\r\n",
		"a signed length":     "Content-Length: +%d\r\n",
	} {
		var d net.Dialer
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(g.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		head = fmt.Sprintf("POST /verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+head+"\r\n0\r\n\r\n", len(inner))
		_, _ = io.WriteString(conn, head+inner) // it may hang up at once
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		text, _ := io.ReadAll(conn)
		if said := string(text); strings.Contains(said, "200 OK") || strings.Count(said, "HTTP/1.1 ") > 1 {
			t.Errorf("%s: %s", name, said)
		}
		_ = conn.Close()
	}
}

func TestH80TheAnswerIsSignedForItsOwnRequest(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	key := []byte(g.Secret)
	for id, c := range map[string]gateway.Call{
		"an-allow": read("a", gateway.OwnerIn("main")), "a-deny": read(g.State.Dir(), gateway.OwnerIn("main")),
		"a-clock": {Tool: "read", At: time.Unix(0, 0)},
	} {
		c.ID = id
		body := c.Body()
		answer := g.SignedTo("/verify", body)
		if answer.Status != http.StatusOK || !answer.Signed {
			t.Errorf("%s: got %d %s, signed %v", id, answer.Status, answer.Raw, answer.Signed)
		}
		flipped := strings.Replace(answer.Raw, `"deny"`, `"allow"`, 1)
		for _, other := range []struct{ key, id, text string }{
			{g.Secret, id + "x", answer.Raw}, {"an0ther5ecret", id, answer.Raw}, {g.Secret, id, flipped + " "},
		} {
			if hmac.MatchAnswer([]byte(other.key), other.id, []byte(other.text),
				hmac.SignAnswer(key, id, []byte(answer.Raw))) {
				t.Errorf("%s: the signature fits another request, secret or answer", id)
			}
		}
	}
}
