package hook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/lineage"
)

// Gateway is where calls are asked about.
type Gateway struct {
	URL    string      // of /verify
	Secret []byte      // what calls are signed with
	Bearer string      // "" where the gateway demands none
	TLS    *tls.Config // whom to trust; nil: those that the system trusts

	lasting *http.Client // of a program that asks often; nil: a new one for each message
}

// Bounds of what is sent and read.
const (
	maxCall   = 1 << 20
	maxEvent  = 8 << 20
	maxAnswer = 64 << 10
)

// message is one request, see docs/spec/protocol.md.
type message struct {
	Version   int         `json:"version"`
	Timestamp string      `json:"timestamp"`
	RequestID string      `json:"requestId"`
	Tool      *tool       `json:"tool,omitzero"`
	Context   callContext `json:"context"`
	Event     any         `json:"event,omitzero"`
}

type tool struct {
	Name        string         `json:"name"`
	Params      jsontext.Value `json:"params"`
	Annotations jsontext.Value `json:"annotations,omitzero"`
}

type callContext struct {
	AgentID         string      `json:"agentId,omitzero"`
	SessionKey      string      `json:"sessionKey,omitzero"`
	SessionID       string      `json:"sessionId,omitzero"`
	RunID           string      `json:"runId,omitzero"`
	ToolCallID      string      `json:"toolCallId,omitzero"`
	SpawnedBy       string      `json:"spawnedBy,omitzero"`
	Trigger         string      `json:"trigger,omitzero"`
	InputProvenance string      `json:"inputProvenance,omitzero"`
	SenderIsOwner   bool        `json:"senderIsOwner,omitzero"`
	SecretsRead     bool        `json:"secretsRead,omitzero"`
	UserMessages    []userWords `json:"userMessages,omitzero"`
	WaitMs          int64       `json:"waitMs,omitzero"`
	Workspace       string      `json:"workspace,omitzero"`
	Platform        string      `json:"platform,omitzero"`
	Directory       string      `json:"directory,omitzero"`
	Edits           bool        `json:"edits,omitzero"`
}

type userWords struct {
	Text          string `json:"text"`
	SenderIsOwner bool   `json:"senderIsOwner"`
	At            string `json:"at,omitzero"`
}

// prints are the fingerprints of a text.
func (g *Gateway) prints(text string) lineage.Fingerprints {
	return lineage.NewKey(g.Secret).Extract(text)
}

// Asked is a call as it was asked about. The same message gets the same answer, unless the owner has paused the agent or
// restricted the call since.
type Asked struct {
	id   string
	body []byte
}

// pack makes a message for the path of an event, or of calls.
func pack(event string, m message) (*Asked, error) {
	m.Version, m.Timestamp, m.RequestID = 1, time.Now().UTC().Format(time.RFC3339), NewID()
	body, err := json.Marshal(m)
	switch {
	case err != nil:
		return nil, failure("The call holds text that can't be verified. Nothing was run.")
	case event == "" && len(body) > maxCall, len(body) > maxEvent:
		return nil, failure("The call is too large to be verified. Nothing was run.")
	}
	return &Asked{m.RequestID, body}, nil
}

// send sends it, and returns the answer once its signature was checked.
func (g *Gateway) send(ctx context.Context, event string, sent *Asked) ([]byte, error) {
	address, err := g.address(event)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(sent.body))
	if err != nil {
		return nil, failure("The verifier's address can't be used. Nothing was run.")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(hmac.RequestHeader, hmac.Sign(g.Secret, sent.body))
	if g.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+g.Bearer)
	}
	res, err := g.client().Do(req)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unreachable(ctx, err)
	case res.StatusCode == http.StatusUnauthorized:
		return nil, failure("The verifier does not accept this hook's secret. Nothing was run.")
	case res.StatusCode != http.StatusOK || len(answer) > maxAnswer:
		return nil, failure("What answers at the verifier's address is not a verifier. Nothing was run.")
	case !hmac.MatchAnswer(g.Secret, sent.id, answer, res.Header.Get(hmac.AnswerHeader)):
		return nil, failure("The verifier's answer could not be authenticated. Nothing was run.")
	}
	return answer, nil
}

// ask sends a call and returns what the gateway has signed.
func (g *Gateway) ask(ctx context.Context, t tool, c callContext) (v verdict, err error) {
	sent, err := pack("", message{Tool: &t, Context: c})
	if err != nil {
		return v, err
	}
	return g.askAgain(ctx, sent)
}

// askAgain sends a call as it was asked about before.
func (g *Gateway) askAgain(ctx context.Context, sent *Asked) (v verdict, err error) {
	answer, err := g.send(ctx, "", sent)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(answer, &v); err != nil || v.Decision != "allow" && v.Decision != "deny" {
		return verdict{}, failure("The verifier's answer holds no decision. Nothing was run.")
	}
	if v.Params != nil && (v.Decision != "allow" || !isObject(v.Params)) {
		return verdict{}, failure("The verifier's answer can't be understood. Nothing was run.")
	}
	return v, nil
}

// tell sends one event and returns the answer to it.
func (g *Gateway) tell(ctx context.Context, name string, event any, c callContext) ([]byte, error) {
	sent, err := pack(name, message{Context: c, Event: event})
	if err != nil {
		return nil, err
	}
	answer, err := g.send(ctx, name, sent)
	if err != nil {
		return nil, err
	}
	var got struct {
		Accepted bool `json:"accepted"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || !got.Accepted {
		return nil, failure("The verifier did not accept the report about the session.")
	}
	return answer, nil
}

// client uses no proxy and follows no redirect: what we send is for one server. It keeps no connection, unless it is to last.
func (g *Gateway) client() *http.Client {
	if g.lasting != nil {
		return g.lasting
	}
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: g.TLS, DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// address is that of calls, or of an event beside it.
func (g *Gateway) address(event string) (string, error) {
	u, err := url.Parse(g.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", failure("The verifier's address is no URL. Nothing was run.")
	}
	if event != "" {
		u.Path = u.Path[:strings.LastIndexByte(u.Path, '/')+1] + "hooks/" + event
	}
	return u.String(), nil
}

func unreachable(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure("The verifier did not answer in time. Nothing was run.")
	case ctx.Err() != nil:
		return failure("The verifier's hook was stopped before there was an answer. Nothing was run.")
	case isCertificate(err):
		return failure("The certificate at the verifier's address is not one that this hook trusts. Nothing was run.")
	}
	return failure("The verifier can't be reached. Nothing was run. Is `verifier serve` running?")
}

func isCertificate(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	return unknown || invalid || other
}

// NewID is a random UUID, version 4.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Flags say where the gateway is, and what its owner says of the agent. What they name counts; the environment, which an
// injected shell could set, is looked at only where they name nothing.
type Flags struct {
	Config     string        `short:"c" placeholder:"FILE" help:"The gateway's config."`
	State      string        `placeholder:"DIR" help:"The gateway's state directory."`
	URL        string        `name:"url" placeholder:"URL" help:"Where the gateway is, if it is on another machine."`
	SecretFile string        `placeholder:"FILE" help:"The file that holds what calls are signed with."`
	CA         string        `name:"ca" placeholder:"FILE" help:"The certificate of the authority that signed the gateway's, a PEM file."`
	Notes      string        `placeholder:"DIR" help:"Where hooks keep notes for each other. Without it: in the state directory."`
	Timeout    time.Duration `placeholder:"TIME" help:"How long the agent waits for the hook, as its settings say. The hook answers 10 s before."`
	Dialogs    bool          `help:"The agent shows its own dialog where the hook tells it to ask: Gemini CLI from 0.61.0 on, before commands."`
	Edits      bool          `help:"The agent runs the arguments of an answer instead of its own: Claude Code from 2.1.325 on, Codex from 0.166.0 on, Gemini CLI from 0.61.0 on. An older one may run its own."`
	Owner      bool          `help:"Runs are yours even without a person at the terminal, as with -p and exec. Don't use it if others can start such runs, by an issue or a message."`
}

// Named reports whether the flags say which gateway is meant.
func (f *Flags) Named() bool { return f.Config != "" || f.State != "" || f.URL != "" }

// FromEnv fills in what the environment says, where the flags say nothing.
func (f *Flags) FromEnv(env func(string) string) {
	if f.Named() {
		return
	}
	f.URL, f.SecretFile = env("VERIFIER_URL"), cmp.Or(f.SecretFile, env("VERIFIER_SECRET_FILE"))
	f.Config, f.CA = env("VERIFIER_CONFIG"), cmp.Or(f.CA, env("VERIFIER_CA"))
	if f.Config == "" && f.SecretFile == "" {
		f.Config = FoundConfig(env)
	}
}

// Simple reports whether a gateway can be found without its config: that takes a program that knows it.
func (f *Flags) Simple() bool {
	if f.SecretFile != "" && f.URL != "" {
		return f.CA != "" || !strings.HasPrefix(f.URL, "https:")
	}
	return f.Config == "" && f.URL == ""
}

// secretHint is what to do without a secret.
const secretHint = " Name the file that holds it with --secret-file or VERIFIER_SECRET_FILE."

// Find finds the gateway by an address and a file, or by what a gateway on this machine has left in its state directory.
func (f *Flags) Find(env func(string) string) (g Gateway, err error) {
	file, address := f.SecretFile, f.URL
	if address == "" {
		dir := StateDir(f.State, env)
		text, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil {
			return g, failure("No verifier has run on this machine with the state directory " + printable(dir) + ". Nothing was run. Start `verifier serve`, or name its --config, --state or --url.")
		}
		address, file = Reachable(strings.TrimSpace(string(text))), cmp.Or(file, filepath.Join(dir, "webhook.secret"))
	}
	g.URL = CallsAt(address)
	if g.Secret, err = ReadSecret(file); err != nil {
		return g, err
	}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		g.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if err != nil || !g.TLS.RootCAs.AppendCertsFromPEM(text) {
			return g, failure("The file that --ca names holds no certificates. Nothing was run.")
		}
	}
	return g, nil
}

// leastSecret is how long a secret is at least, as in the gateway's config.
const leastSecret = 16

// ReadSecret reads what calls are signed with.
func ReadSecret(file string) ([]byte, error) {
	if file == "" {
		return nil, failure("The verifier's hook has no secret to sign with. Nothing was run." + secretHint)
	}
	text, err := os.ReadFile(file)
	secret := strings.TrimSpace(string(text))
	if err != nil || len(secret) < leastSecret {
		return nil, failure("The file " + printable(file) + " holds no secret that the verifier's hook can read. Nothing was run.")
	}
	return []byte(secret), nil
}

// CallsAt is the address of calls, where only the server's is given.
func CallsAt(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if host, path, _ := strings.Cut(rest, "/"); ok && path == "" {
		return scheme + "://" + host + "/verify"
	}
	return address
}

// Reachable turns what a server has left of its address into one that can be called.
func Reachable(listen string) string {
	scheme, rest, ok := strings.Cut(listen, "://")
	if !ok {
		scheme, rest = "http", listen
	}
	host, port, err := net.SplitHostPort(rest)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		rest = net.JoinHostPort("127.0.0.1", port)
	}
	return scheme + "://" + rest
}

// NotesDir is where hooks leave word for each other.
func (f *Flags) NotesDir(env func(string) string) (string, error) {
	switch {
	case f.Notes != "":
		return filepath.Abs(f.Notes)
	case f.State != "" || !f.Named():
		return filepath.Join(StateDir(f.State, env), "hook"), nil
	}
	home := cmp.Or(accountHome(), env("HOME")) // an injected shell could set the variable
	if home == "" {
		return "", failure("The verifier's hook does not know where to leave word for later ones. Nothing was run. Name a directory with --notes.")
	}
	return filepath.Join(home, ".local", "state", "verifier", "hook"), nil
}

// accountHome is the home directory of the account, or "" where the system does not say it.
func accountHome() string {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// StateDir is the gateway's state directory, found as the gateway finds it.
func StateDir(dir string, env func(string) string) string {
	systemd, _, _ := strings.Cut(env("STATE_DIRECTORY"), ":")
	dir = cmp.Or(dir, env("VERIFIER_STATE"), systemd)
	if home := env("XDG_STATE_HOME"); dir == "" && filepath.IsAbs(home) {
		dir = filepath.Join(home, "verifier")
	}
	if dir == "" {
		dir = filepath.Join(homeOf(env), ".local", "state", "verifier")
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// UsualConfig is where a config is looked for; "" where there is no home.
func UsualConfig(env func(string) string) string {
	dir := env("XDG_CONFIG_HOME")
	if home := homeOf(env); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "verifier", "verifier.yaml")
}

// FoundConfig is the config at its usual place; "" where there is none.
func FoundConfig(env func(string) string) string {
	path := UsualConfig(env)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// homeOf is the user's home directory, as the other commands find it.
func homeOf(env func(string) string) string {
	if runtime.GOOS == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}
