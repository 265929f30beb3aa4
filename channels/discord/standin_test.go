package discord_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
)

// The same suite against a Discord that others wrote: discord-digital-twin, with
// a REST API and a gateway of its own.
func TestStandIn(t *testing.T) {
	door := "http://127.0.0.1:" + channeltest.StartStandIn(t, "testdata/standin.mjs") + "/"
	channeltest.RunStandIn(t, discord.Name, func(t *testing.T) channeltest.Platform { return newStandIn(t, door) })
}

// standIn is a Discord of a test's own. A proxy stands before it, for another
// version of the API and for faults.
type standIn struct {
	*platform
	*twin
}

// twin acts as people in the stand-in.
type twin struct {
	channeltest.Faults
	t     testing.TB
	door  string
	token string

	reading sync.Mutex
	shown   []discordtest.Message
	stale   atomic.Bool // something was written since
}

func newStandIn(t *testing.T, door string) *standIn {
	t.Helper()
	w := &twin{t: t, door: door, token: token + fmt.Sprint(time.Now().UnixNano())}
	var users []map[string]any
	for _, u := range []channeltest.User{people.Alice, people.Bob, people.Mallory, people.Robot} {
		users = append(users, map[string]any{"id": u.ID, "username": u.Name, "bot": u.Bot})
	}
	var made struct {
		URL string `json:"url"`
	}
	w.ask("new", map[string]any{"bot": discordtest.BotID, "users": users, "room": room, "db": "file:" + filepath.Join(t.TempDir(), "twin.db")}, &made)
	to, err := url.Parse(made.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(w.proxy(to))
	t.Cleanup(func() {
		w.Break(channeltest.Fault{})
		proxy.CloseClientConnections()
		proxy.Close()
		w.ask("end", map[string]any{}, &struct{}{})
	})
	p := &platform{world: w}
	p.config = discord.Config{BotToken: w.token, ChannelID: room, APIURL: proxy.URL}
	return &standIn{platform: p, twin: w}
}

// proxy passes calls on, and lets them fail where the test wants that.
func (w *twin) proxy(to *url.URL) http.Handler {
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.URL.Path = strings.Replace(r.In.URL.Path, "/api/v9/", "/api/v10/", 1)
		},
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		listening := strings.HasSuffix(r.URL.Path, "/gateway/bot") || strings.HasSuffix(r.URL.Path, "/applications/@me")
		if !listening && w.Meet(out, r, func(out http.ResponseWriter, _ channeltest.Fault) {
			out.WriteHeader(http.StatusForbidden)
			io.WriteString(out, `{"code":50013,"message":"Missing Permissions"}`) //nolint:errcheck // whoever does not read it has gone
		}) {
			return
		}
		done := httptest.NewRecorder()
		pass.ServeHTTP(done, r)
		if !listening {
			w.stale.Store(true)
			w.Wait(r)
		}
		out.Header().Set("Content-Type", done.Header().Get("Content-Type"))
		out.WriteHeader(done.Code)
		out.Write(done.Body.Bytes()) //nolint:errcheck // whoever does not read it has gone
	})
}

// ask goes through the stand-in's own door.
func (w *twin) ask(what string, with map[string]any, into any) {
	w.t.Helper()
	with["token"] = w.token
	text, err := json.Marshal(with)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(w.t.Context()), http.MethodPost, w.door+what, bytes.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Errorf("%s: %v", what, err)
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(answer, into) != nil {
		w.t.Errorf("%s: %d %s %v", what, res.StatusCode, answer, err)
	}
}

// Break, Hold and Secrets are the stand-in's own.
func (s *standIn) Break(f channeltest.Fault)       { s.twin.Break(f) }
func (s *standIn) Hold() (release func())          { return s.twin.Hold() }
func (s *standIn) Secrets() []string               { return []string{s.token} }
func (s *standIn) Messages() []channeltest.Message { return s.platform.Messages() }

func (s *standIn) Tap(t testing.TB, who channeltest.User, m channeltest.Message, b channeltest.Button) string {
	t.Helper()
	return s.platform.Tap(t, who, m, b)
}

func (s *standIn) Say(t testing.TB, who channeltest.User, where channeltest.Place, text string) string {
	t.Helper()
	return s.platform.Say(t, who, where, text)
}

// component is anything in a message or a form.
type component struct {
	Label      string      `json:"label"`
	Style      int         `json:"style"`
	CustomID   string      `json:"custom_id"`
	URL        string      `json:"url"`
	Components []component `json:"components"`
	Component  *component  `json:"component"`
}

// Messages are asked for again only after something was written.
func (w *twin) Messages() []discordtest.Message {
	w.reading.Lock()
	defer w.reading.Unlock()
	if w.stale.Swap(false) {
		w.shown = w.read()
	}
	return w.shown
}

func (w *twin) read() []discordtest.Message {
	var found []struct {
		ID         string      `json:"id"`
		Channel    string      `json:"channel"`
		Content    string      `json:"content"`
		Flags      int         `json:"flags"`
		Components []component `json:"components"`
		ReplyTo    string      `json:"replyTo"`
		Only       string      `json:"only"`
	}
	w.ask("messages", map[string]any{}, &found)
	var out []discordtest.Message
	for _, m := range found {
		shown := discordtest.Message{ID: m.ID, Channel: m.Channel, Content: m.Content, Flags: m.Flags, ReplyTo: m.ReplyTo, Only: m.Only, Quiet: true}
		for _, row := range m.Components {
			var buttons []discordtest.Button
			for _, b := range row.Components {
				buttons = append(buttons, discordtest.Button{Label: b.Label, CustomID: b.CustomID, Style: b.Style, URL: b.URL})
			}
			shown.Rows = append(shown.Rows, buttons)
		}
		out = append(out, shown)
	}
	return out
}

func (w *twin) Tap(ctx context.Context, who discordtest.Person, channel, message, customID string) (discordtest.Told, error) {
	return w.act(ctx, who, channel, message, 3, map[string]any{"custom_id": customID, "component_type": 2})
}

func (w *twin) act(ctx context.Context, who discordtest.Person, channel, message string, kind int, data map[string]any) (discordtest.Told, error) {
	if err := w.Ready(ctx); err != nil {
		return discordtest.Told{}, err
	}
	var made struct {
		ID string `json:"id"`
	}
	w.ask("act", map[string]any{"user": who.ID, "channel": channel, "message": message, "type": kind, "data": data}, &made)
	var answer struct {
		Type int `json:"type"`
		Data struct {
			Content string `json:"content"`
		} `json:"data"`
	}
	short, cancel := context.WithTimeout(ctx, discordtest.Deadline)
	defer cancel()
	told := discordtest.Told{ID: made.ID}
	if w.until(short, func() bool { w.ask("answer", map[string]any{"id": made.ID}, &answer); return answer.Type != 0 }) != nil {
		told.Failed = true
		return told, ctx.Err()
	}
	told.Text = answer.Data.Content
	return told, nil
}

func (w *twin) until(ctx context.Context, is func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (w *twin) Ready(ctx context.Context) error {
	var on struct {
		Yes bool `json:"yes"`
	}
	return w.until(ctx, func() bool { w.ask("connected", map[string]any{}, &on); return on.Yes })
}

func (w *twin) Say(who discordtest.Person, channel, replyTo, text string, _ map[string]any) string {
	var made struct {
		ID string `json:"id"`
	}
	w.ask("say", map[string]any{"user": who.ID, "channel": channel, "replyTo": replyTo, "text": text}, &made)
	return made.ID
}
