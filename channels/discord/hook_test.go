package discord_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
)

// hooked is a channel that takes signed requests, and how many of them counted.
func hooked(t *testing.T) (p *platform, url string, counted *atomic.Int64) {
	t.Helper()
	p = newHTTPPlatform(t)
	opened := p.Open(t, delivery.Deps{})
	ch, ok := opened.(*discord.Channel)
	if !ok {
		t.Fatalf("%T", opened)
	}
	counted = new(atomic.Int64)
	path, h := ch.Hook()
	if path != "/hooks/discord" {
		t.Errorf("the path is %q", path)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	p.listen(t, ch, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
		counted.Add(1)
		return echo(ctx, a)
	})
	until(t, "it listens", func() bool { return len(p.Calls()) > 0 })
	return p, s.URL, counted
}

func TestH35ForgedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	p, url, counted := hooked(t)
	other, now := discordtest.New(t, token), time.Now()
	tap, err := json.Marshal(p.Interaction(person(people.Alice), room, "1", "handle"))
	if err != nil {
		t.Fatal(err)
	}
	const signature, stamp = "X-Signature-Ed25519", "X-Signature-Timestamp"
	for name, r := range map[string]*http.Request{
		"signed by another key":    other.Signed(url, now, tap),
		"from long ago":            p.Signed(url, now.Add(-6*time.Minute), tap),
		"from years ago":           p.Signed(url, time.Unix(1_600_000_000, 0), tap),
		"from the future":          p.Signed(url, now.Add(6*time.Minute), tap),
		"from the end of time":     p.Signed(url, time.Unix(1<<62, 0), tap),
		"without a signature":      with(p.Signed(url, now, tap), signature),
		"with two signatures":      with(p.Signed(url, now, tap), signature, strings.Repeat("00", 64), strings.Repeat("00", 64)),
		"with zeros":               with(p.Signed(url, now, tap), signature, strings.Repeat("00", 64)),
		"with a short signature":   with(p.Signed(url, now, tap), signature, "00"),
		"with no hex":              with(p.Signed(url, now, tap), signature, strings.Repeat("zz", 64)),
		"without a time":           with(p.Signed(url, now, tap), stamp),
		"with a time in words":     with(p.Signed(url, now, tap), stamp, "now"),
		"with another time":        with(p.Signed(url, now, tap), stamp, strconv.FormatInt(now.Unix()+1, 10)),
		"with another body":        body(p.Signed(url, now, tap), bytes.Replace(tap, []byte("handle"), []byte("Handle"), 1)),
		"with one space more":      body(p.Signed(url, now, tap), append(tap, ' ')),
		"a ping without signature": with(p.Signed(url, now, []byte(`{"type":1}`)), signature),
	} {
		if status := discordtest.Status(r); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, status)
		}
	}
	if counted.Load() != 0 {
		t.Errorf("%d forged taps counted", counted.Load())
	}
}

func with(r *http.Request, header string, values ...string) *http.Request {
	r.Header[http.CanonicalHeaderKey(header)] = values
	return r
}

func body(r *http.Request, text []byte) *http.Request {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return r
}

func TestSignedRequestsCountOnce(t *testing.T) {
	t.Parallel()
	p, url, counted := hooked(t)
	tap, now := p.Interaction(person(people.Alice), room, "1", "handle"), time.Now()
	if status := p.Post(url, now, tap); status != http.StatusAccepted {
		t.Errorf("the tap: %d", status)
	}
	id, _ := tap["id"].(string)
	until(t, "it is answered", func() bool { return p.Answered(id) })
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"the same again":    {string(marshal(t, tap)), http.StatusConflict},
		"without an id":     {`{"type":3,"data":{"custom_id":"x"}}`, http.StatusConflict},
		"no JSON":           {`{"type":`, http.StatusBadRequest},
		"two types":         {`{"type":1,"type":3}`, http.StatusBadRequest},
		"data of no type":   {`{"id":"2","type":3,"data":[]}`, http.StatusBadRequest},
		"more than it may":  {`{"id":"3","type":1,"pad":"` + strings.Repeat("x", 1<<20) + `"}`, http.StatusRequestEntityTooLarge},
		"a kind nobody has": {`{"id":"4","type":200,"user":{"id":"101"}}`, http.StatusAccepted},
		"from nobody":       {`{"id":"5","type":3,"data":{"custom_id":"x"}}`, http.StatusAccepted},
	} {
		if status := discordtest.Status(p.Signed(url, now, []byte(c.text))); status != c.want {
			t.Errorf("%s: %d, want %d", name, status, c.want)
		}
	}
	if counted.Load() != 1 {
		t.Errorf("%d taps counted", counted.Load())
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAPingIsAnsweredWhereItComesIn(t *testing.T) {
	t.Parallel()
	p, url, counted := hooked(t)
	res, err := http.DefaultClient.Do(p.Signed(url, time.Now(), []byte(`{"type":1,"id":"1","application_id":"2"}`)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || string(text) != `{"type":1}` {
		t.Errorf("%d %s %v", res.StatusCode, text, err)
	}
	get := p.Signed(url, time.Now(), nil)
	get.Method = http.MethodGet
	if status := discordtest.Status(get); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", status)
	}
	if counted.Load() != 0 {
		t.Error("a ping counts")
	}
}

func TestTheKeyMustBeTheApplications(t *testing.T) {
	t.Parallel()
	p := newHTTPPlatform(t)
	p.config.Interactions.PublicKey = strings.Repeat("ab", ed25519.PublicKeySize)
	ch, log := p.start(t)
	p.listen(t, ch, echo)
	until(t, "health says so", func() bool { return ch.Health() != nil && strings.Contains(ch.Health().Error(), "publicKey") })
	if !strings.Contains(log.String(), "is not the key of the bot's application") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestWithoutAnEndpointTheOwnerIsTold(t *testing.T) {
	t.Parallel()
	p := newHTTPPlatform(t)
	p.Endpoint("")
	ch, log := p.start(t)
	p.listen(t, ch, echo)
	until(t, "the log says so", func() bool { return strings.Contains(log.String(), "no Interactions Endpoint URL is set") })
}

func TestTheFormForALineOpensOnlyForApprovers(t *testing.T) {
	t.Parallel()
	p := newHTTPPlatform(t)
	ch, _ := p.startAt(t, time.Now)
	p.listen(t, ch, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
		switch {
		case a.ID == "discord:666":
			return approval.Outcome{Kind: approval.Unauthorised, Text: approval.NotAuthorised}, nil
		case a.Text == "talk":
			return approval.Outcome{Kind: approval.Ignored}, nil
		}
		return echo(ctx, a)
	})
	if told := p.tap(t, people.Mallory, "1", typeLine); told.Form != nil || discordtest.Render(told.Text).Text != approval.NotAuthorised {
		t.Errorf("%+v", told)
	}
	form := p.tap(t, people.Alice, "1", typeLine).Form
	if told := p.submit(t, people.Alice, "1", form, ".pending"); discordtest.Render(told.Text).Text != "discord:101 .pending" {
		t.Errorf("%+v", told)
	}
	if told := p.submit(t, people.Alice, "1", form, "talk"); !strings.Contains(discordtest.Render(told.Text).Text, "no line that answers a card") {
		t.Errorf("%+v", told)
	}
}

func TestConfigSaysWhatIsMissing(t *testing.T) {
	good := func() discord.Config { return discord.Config{BotToken: token, UserID: "101"} }
	for _, c := range []struct {
		name, want string
		edit       func(c *discord.Config)
	}{
		{"no token", "botToken is missing", func(c *discord.Config) { c.BotToken = "" }},
		{"a client secret", "is no bot token", func(c *discord.Config) { c.BotToken = "abcdefghijklmnopqrstuvwxyz012345" }},
		{"a token of nobody", "is no bot token", func(c *discord.Config) {
			c.BotToken = "bm90LWEtbnVtYmVyLWF0LWFsbA.GaBcDe.planted-token-that-must-never-show-up-0"
		}},
		{"nowhere", "say where cards go", func(c *discord.Config) { c.UserID = "" }},
		{"two people", "say where cards go", func(c *discord.Config) { c.UserID, c.AllowedUserIDs = "", []delivery.ID{"1", "2"} }},
		{"a name", "say where cards go", func(c *discord.Config) { c.UserID = "ann" }},
		{"a channel's name", "channelId must be", func(c *discord.Config) { c.ChannelID = "#approvals" }},
		{"no address", "apiUrl is no address", func(c *discord.Config) { c.APIURL = "discord.com" }},
		{"an address with a token", "apiUrl is no address", func(c *discord.Config) { c.APIURL = "https://token@discord.com" }},
		{"no key", "64 hex digits", func(c *discord.Config) { c.Interactions = &discord.Interactions{} }},
		{"a short key", "64 hex digits", func(c *discord.Config) { c.Interactions = &discord.Interactions{PublicKey: "abcd"} }},
		{"a long key", "64 hex digits", func(c *discord.Config) { c.Interactions = &discord.Interactions{PublicKey: strings.Repeat("ab", 33)} }},
		{"no hex", "64 hex digits", func(c *discord.Config) { c.Interactions = &discord.Interactions{PublicKey: strings.Repeat("xy", 32)} }},
		{"no path", "begin with a slash", func(c *discord.Config) {
			c.Interactions = &discord.Interactions{PublicKey: strings.Repeat("ab", 32), Path: "hooks"}
		}},
	} {
		config := good()
		c.edit(&config)
		ch, err := discord.Open(config, delivery.Deps{})
		if ch != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "channels.discord: ") {
			t.Errorf("%s: %v, %v", c.name, ch, err)
		}
		if err != nil && config.BotToken != "" && strings.Contains(err.Error(), config.BotToken) {
			t.Errorf("%s: the error holds the token: %v", c.name, err)
		}
	}
	one := good()
	one.UserID, one.AllowedUserIDs, one.BotToken = "", []delivery.ID{"101"}, "Bot "+token
	if ch, err := discord.Open(one, delivery.Deps{}); ch == nil || err != nil {
		t.Errorf("one person: %v, %v", ch, err)
	}
}
