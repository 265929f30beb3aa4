package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
)

// planter sends calls with a canary in them, keeps every answer, and scans all
// that came out. Each canary is planted once, so that a leak says where it came
// in.
type planter struct {
	t       testing.TB
	url     string
	secret  string
	bearer  string
	token   string
	trap    redacttest.Trap
	seed    uint64
	answers output // to whoever calls
	owner   output // to who carries the owner's token
}

// The outputs in which something planted may stand.
const (
	ownersAnswers = "answers to the owner"
	ownersScreen  = "owner's screen"
	storeFiles    = "store"
)

// say writes what was read elsewhere.
func (o *output) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, args...) // it never fails
}

// text plants a canary of a kind, and returns the text that shows it; n chooses
// among the texts of the kind.
func (p *planter) text(kind, n int, place string, allowed ...string) string {
	p.seed++
	all := redacttest.Seeded(p.seed)
	c := all[kind%len(all)]
	p.trap.Plant(c.Name+" "+place, c.Secret, allowed...)
	return c.Texts[n%len(c.Texts)]
}

func kinds() int { return len(redacttest.Canaries()) }

// do sends a request and keeps its answer, headers included.
func (p *planter) do(to *output, method, path string, body []byte, headers ...string) []byte {
	p.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, p.url+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header[headers[i]] = append(req.Header[headers[i]], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	head, err := httputil.DumpResponse(res, false)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	to.say("%s%s\n", head, text)
	return text
}

// send signs a call.
func (p *planter) send(c call) (a answer) {
	p.t.Helper()
	return p.raw(c.body())
}

// raw signs any bytes.
func (p *planter) raw(body []byte) (a answer) {
	p.t.Helper()
	headers := []string{hmac.RequestHeader, hmac.Sign([]byte(p.secret), body)}
	if p.bearer != "" {
		headers = append(headers, "Authorization", "Bearer "+p.bearer)
	}
	text := p.do(&p.answers, http.MethodPost, "/verify", body, headers...)
	if err := json.Unmarshal(text, &a); err != nil {
		p.t.Fatalf("read %q: %v", text, err)
	}
	return a
}

// ask is the owner's door.
func (p *planter) ask(method, path string, in, out any) {
	p.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	text := p.do(&p.owner, method, path, body, "Authorization", "Bearer "+p.token)
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		p.t.Fatalf("read %q: %v", text, err)
	}
}

// cards are what waits, and their codes are planted: they may stand before the
// owner and nowhere else.
func (p *planter) cards() []shown {
	p.t.Helper()
	var out struct {
		Cards []shown `json:"cards"`
	}
	p.ask(http.MethodGet, "/owner/pending", nil, &out)
	for _, c := range out.Cards {
		p.trap.Plant("the code of "+c.Ref, c.code(p.t), ownersAnswers, ownersScreen)
	}
	return out.Cards
}

// scan looks through everything.
func (p *planter) scan(outputs map[string]string) []redacttest.Leak {
	p.t.Helper()
	all := maps.Clone(outputs)
	all["answers"], all[ownersAnswers] = p.answers.String(), p.owner.String()
	for name, text := range all {
		if text == "" {
			p.t.Errorf("the %s are empty: nothing was looked at", name)
		}
	}
	return p.trap.Scan(all)
}

// wire plants the program's own secrets too, and gives a planter that talks to
// the rig.
func (r *rig) wire() *planter {
	r.t.Helper()
	p := &planter{t: r.t, url: r.url, secret: r.secret, token: r.token, bearer: r.cfg.Webhook.Bearer.Reveal()}
	if secrets := r.cfg.Clients()[config.DefaultClient]; len(secrets) > 0 {
		p.secret = secrets[0].Reveal()
	}
	if r.cfg.OwnerToken.Set() {
		p.token = r.cfg.OwnerToken.Reveal()
	}
	key, err := serverKey(r.cfg, r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	p.trap.Plant("the webhook secret", p.secret)
	p.trap.Plant("the owner token", p.token)
	p.trap.Plant("the server key", string(key))
	p.trap.Plant("the server key in hex", hex.EncodeToString([]byte(key)))
	if p.bearer != "" {
		p.trap.Plant("the bearer", p.bearer)
	}
	return p
}

// outputs are all that a rig has written.
func (r *rig) outputs() map[string]string {
	r.t.Helper()
	return map[string]string{
		"log": r.log.String(), ownersScreen: r.screen.String(), "record": r.record(), storeFiles: r.stored(),
		"metrics": r.page("/metrics"), "health": r.page("/readyz") + r.page("/healthz"),
	}
}

// stored is all that the store keeps.
func (r *rig) stored() string {
	r.t.Helper()
	if r.redis == nil {
		return files(r.t, r.state.DB()+"*")
	}
	var all strings.Builder
	keys, err := r.redis.Admin.Keys(context.Background(), "*").Result()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, key := range keys {
		value, err := r.redis.Admin.Dump(context.Background(), key).Result()
		if err != nil {
			continue // it has expired
		}
		all.WriteString(key + "\n" + value + "\n")
	}
	return all.String()
}

// files are all that match, one after the other.
func files(t testing.TB, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// tattler is a channel that tells the log what only the owner may see.
type tattler struct {
	approval.Channel
	log *output
}

func (c tattler) Send(ctx context.Context, card *approval.Card) (string, error) {
	c.log.say("sent %x\n", card.Code)
	return c.Channel.Send(ctx, card)
}
