package slack_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	theirs "github.com/slack-go/slack/slacktest"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// The same suite against Slack as others understand it: emulate, for the Web API
// with the scopes of the manifest in docs/channels.md, and slack-go's own
// slacktest for Socket Mode.
func TestStandIn(t *testing.T) {
	channeltest.RunStandIn(t, slack.Name, func(t *testing.T) channeltest.Platform { return newStandIn(t) })
}

// manifestScopes are those that docs/channels.md tells people to give the app.
var manifestScopes = []string{"chat:write", "files:write", "im:history", "channels:history", "groups:history"}

const (
	admin   = "admin"
	mallory = "mallory"
	robot   = "robot"
)

// standIn is emulate behind a proxy, which sends Socket Mode to slacktest and
// sees what people alone are told: emulate has no method that says so.
type standIn struct {
	channeltest.Faults
	emulate string
	proxy   *httptest.Server
	socket  *theirs.Server
	ids     map[string]string // of people, by name
	chat    string

	mu      sync.Mutex
	changed chan struct{}
	next    int
	direct  map[string]string // direct messages, by who has them
	private []slacktest.Message
	lines   []said
	acked   map[string]bool
	stale   bool
	shown   []slacktest.Message
	files   map[string]string
}

// said is a line that someone wrote.
type said struct{ id, user, channel, thread string }

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{
		changed: make(chan struct{}), direct: make(map[string]string), acked: make(map[string]bool), ids: make(map[string]string),
		files: make(map[string]string), stale: true,
	}
	s.proxy = httptest.NewServer(s)
	t.Cleanup(s.proxy.Close)
	t.Cleanup(func() { s.Break(channeltest.Fault{}) })
	s.start(t)
	s.socket = theirs.NewTestServer()
	s.socket.Start()
	t.Cleanup(s.socket.Stop)
	go s.hearAcks(t.Context())
	s.invite(t)
	return s
}

// start runs emulate until the test ends.
func (s *standIn) start(t *testing.T) {
	t.Helper()
	type named map[string]any
	tokens := []named{{"token": keys.BotToken, "type": "bot", "user_id": slacktest.BotUser, "app_id": slacktest.AppID, "bot_id": slacktest.BotID, "scopes": manifestScopes}}
	var users []named
	for _, name := range []string{admin, "alice", "bob", mallory, robot} {
		tokens = append(tokens, named{"token": tokenOf(name), "user": name})
		users = append(users, named{"name": name, "real_name": "Alice"})
	}
	known, err := json.Marshal(named{"strict_scopes": true, "users": users, "tokens": tokens, "oauth_apps": []named{{
		"client_id": "c", "client_secret": "s", "name": "Verifier", "redirect_uris": []string{}, "app_id": slacktest.AppID,
		"bot_id": slacktest.BotID, "bot_user_id": slacktest.BotUser, "bot_name": "verifier",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.emulate = "http://127.0.0.1:" + channeltest.StartStandIn(t, "testdata/standin.mjs", s.proxy.URL, string(known))
}

func tokenOf(name string) string { return "xoxp-" + name }

// invite makes the channel, with everyone in it.
func (s *standIn) invite(t *testing.T) {
	t.Helper()
	var list struct {
		Members []struct{ ID, Name string }
	}
	s.method(t, tokenOf(admin), "users.list", nil, &list)
	var all []string
	for _, m := range list.Members {
		s.ids[m.Name] = m.ID
		if m.Name != admin {
			all = append(all, m.ID)
		}
	}
	var made struct{ Channel struct{ ID string } }
	s.method(t, tokenOf(admin), "conversations.create", url.Values{"name": {"approvals"}}, &made)
	s.chat = made.Channel.ID
	s.method(t, tokenOf(admin), "conversations.invite", url.Values{"channel": {s.chat}, "users": {strings.Join(all, ",")}}, nil)
}

// method calls emulate as someone.
func (s *standIn) method(t testing.TB, token, name string, form url.Values, answer any) {
	t.Helper()
	body, err := s.fetch(t.Context(), token, http.MethodPost, "/api/"+name, form)
	if err != nil {
		t.Fatal(err)
	}
	var ok struct {
		OK    bool
		Error string
	}
	insensitive := json.MatchCaseInsensitiveNames(true)
	if err := json.Unmarshal(body, &ok, insensitive); err != nil || !ok.OK {
		t.Fatalf("%s: %s", name, body)
	}
	if answer != nil {
		if err := json.Unmarshal(body, answer, insensitive); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func (s *standIn) fetch(ctx context.Context, token, method, path string, form url.Values) (jsontext.Value, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.emulate+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// Name implements channeltest.Platform.
func (*standIn) Name() string { return slack.Name }

// Secrets implements channeltest.Platform.
func (*standIn) Secrets() []string { return (*platform)(nil).Secrets() }

// People implements channeltest.Platform.
func (s *standIn) People() channeltest.People {
	return channeltest.People{
		Alice: channeltest.User{ID: s.ids["alice"], Name: "Alice"}, Bob: channeltest.User{ID: s.ids["bob"], Name: "Bob"},
		Mallory: channeltest.User{ID: s.ids[mallory], Name: "Alice"}, Robot: channeltest.User{ID: s.ids[robot], Name: "Robot", Bot: true},
	}
}

// Open implements channeltest.Platform.
func (s *standIn) Open(t testing.TB, d delivery.Deps) approval.Channel {
	t.Helper()
	return open(t, slack.Config{BotToken: keys.BotToken, AppToken: keys.AppToken, ChannelID: delivery.ID(s.chat), APIURL: s.proxy.URL + "/api"}, d)
}
