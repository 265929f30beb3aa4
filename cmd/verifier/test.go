package main

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/verifier"
)

// TestCmd tries a running server.
type TestCmd struct {
	SendCard bool   `help:"Also show a card that asks nothing on every channel."`
	Secret   string `help:"What to sign with. On a shared machine use the variable: others see your command line." env:"VERIFIER_SECRET" placeholder:"TEXT"`
	owner
}

// trial is one run of the command.
type trial struct {
	*TestCmd
	a      *app
	t      *target
	failed bool
	paused bool
}

// testPatience is longer than a channel may take.
const testPatience = 20 * time.Second

// Run tries one thing after the other. Without a server there is nothing else
// to try.
func (c *TestCmd) Run(a *app) error {
	t, err := c.target(a, c.URL)
	if err != nil {
		return err
	}
	t.client.Timeout = testPatience
	x := &trial{TestCmd: c, a: a, t: t}
	date, ok := x.server()
	if !ok {
		return exit(exitError)
	}
	agrees, err := x.clock(date)
	x.say("clock", agrees, err)
	x.ready()
	x.owner()
	x.signatures()
	x.say("refusal", "a wrong signature is refused", x.refusal())
	x.channels()
	if x.failed {
		return exit(exitError)
	}
	return nil
}

// say prints how one thing went.
func (x *trial) say(what, good string, err error) {
	if err == nil {
		x.a.printf("ok      %-10s %s\n", what, good)
		return
	}
	x.failed = true
	x.a.printf("FAILED  %-10s %s\n", what, printable(err.Error()))
	if hint := hintOf(err); hint != "" {
		x.a.printf("        hint: %s\n", hint)
	}
}

// get asks for a page that anyone may see.
func (x *trial) get(path string) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(x.a.ctx, http.MethodGet, x.t.base+path, http.NoBody)
	if err != nil {
		return 0, nil, nil, badURL(x.t.base)
	}
	return x.t.do(req)
}

// server says whether one answers, and what time it has.
func (x *trial) server() (date string, ok bool) {
	status, header, _, err := x.get("/healthz")
	if err == nil && (status != http.StatusOK || header.Get(server.RequestIDHeader) == "") {
		err = &failure{fmt.Sprintf("what answers at %s is not a verifier (HTTP status %d)", x.t.base, status), "name its address with --url, VERIFIER_URL or --config; if it speaks TLS, write https://"}
	}
	x.say("server", x.t.base+" answers", err)
	return header.Get("Date"), err == nil
}

// clock compares the clocks. A call whose time is too far off is denied.
func (x *trial) clock(date string) (agrees string, _ error) {
	theirs, err := http.ParseTime(date)
	if err != nil {
		return "", &failure{"the server does not say what time it has", "is there a proxy in between that drops the Date header?"}
	}
	off, most := time.Since(theirs).Truncate(time.Second), x.t.config.Webhook.Tolerance
	where := "behind"
	if off < 0 {
		where = "ahead of"
	}
	switch {
	case off.Abs() <= 2*time.Second:
		return "agrees within a second or so", nil
	case off.Abs() < most/2:
		return fmt.Sprintf("the server's is %s %s this machine's, and may be %s off", off.Abs(), where, most), nil
	}
	return "", &failure{
		fmt.Sprintf("the server's clock is %s %s this machine's: calls that are off by more than webhook.tolerance (%s) are denied", off.Abs(), where, most),
		"let both machines keep time by NTP (timedatectl set-ntp true)",
	}
}

// partHints say what to do about a part that is not ready.
var partHints = map[string]string{
	"store":     "is the disk full, or is Redis up, writable and set to noeviction?",
	"record":    "is the disk full, was the file taken away, or is its directory not writable for the server?",
	"approvals": "see approvers and channels in the config: `verifier check`",
}

// ready says what the server needs and lacks.
func (x *trial) ready() {
	good, lacks, err := x.parts()
	for _, l := range lacks {
		x.say("ready", "", &failure{l.part + ": " + l.why, cmp.Or(l.hint, partHints[l.part])})
	}
	if len(lacks) == 0 {
		x.say("ready", strings.Join(good, ", "), err)
	}
}

// lack is what is wrong with a part, and what the server says to do about it.
type lack struct{ part, why, hint string }

// parts are what the server needs: what it has, and what it lacks and why.
func (x *trial) parts() (good []string, lacks []lack, err error) {
	status, _, body, err := x.get("/readyz")
	if err == nil && status != http.StatusOK && status != http.StatusServiceUnavailable {
		err = &failure{fmt.Sprintf("/readyz answered with HTTP status %d", status), "is something in between that answers for the server?"}
	}
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(body)) {
		part, state, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case state == "ok":
			good = append(good, part)
		case part == "hint" && len(lacks) > 0:
			lacks[len(lacks)-1].hint = state
		default:
			lacks = append(lacks, lack{part: part, why: state})
		}
	}
	return good, lacks, nil
}

// owner says whether the token is known and may answer.
func (x *trial) owner() {
	var out struct {
		Kind   string     `json:"kind"`
		Paused string     `json:"paused"`
		Cards  []struct{} `json:"cards"`
	}
	err := x.ask(x.a, http.MethodGet, "/owner/pending", nil, &out)
	if err == nil && out.Kind != "" {
		err = &failure{"the token is known, but its holder may not answer", "list them in approvers: ids: [\"token:owner\"] is the owner token's holder"}
	}
	waits := "nothing waits"
	if n := len(out.Cards); n > 0 {
		waits = approval.Count(n, "question waits", "questions wait")
	}
	if x.paused = out.Paused != ""; x.paused {
		waits += "; " + printable(out.Paused)
	}
	x.say("owner", "the token is known; "+waits, err)
}

// signatures sends a call for each client whose secret is known here.
func (x *trial) signatures() {
	clients := x.t.config.Clients()
	if x.Secret != "" || len(clients) == 0 {
		secret, err := x.t.secret(x.Secret)
		if err == nil {
			err = x.call(secret)
		}
		x.say("signature", "the call was taken, and the answer is signed", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		x.say("signature", "of "+name+": the call was taken, and the answer is signed", x.call(clients[name][0]))
	}
}

// call sends a call that no policy lets pass: it names what is guarded. It
// is in a conversation of its own, so that it raises nothing for others.
func (x *trial) call(secret config.Secret) error {
	id := hook.NewID()
	send := &SendCmd{Tool: "verifier_test", Params: `{"names":"VERIFIER_OWNER_TOKEN"}`, Session: "verifier:test:" + id, Context: "{}"}
	body, err := send.body(id, time.Now(), 0)
	if err != nil {
		return err
	}
	answer, err := send.post(x.a, x.t, secret, id, body)
	if err != nil {
		return err
	}
	switch d, err := decisionOf(answer); {
	case err != nil:
		return err
	case d.Decision == "allow":
		return &failure{"the server let a call pass that names its owner's token", "do this program and the server have the same version? Stop the agent until you know"}
	case !strings.HasPrefix(d.Reason, verifier.NotPermitted) && !x.paused:
		return &failure{"the call was denied for another reason than the policy's: " + d.Reason, "see the other lines; the server's log says more"}
	}
	return nil
}

// refusal sends a call with a secret that no client has.
func (x *trial) refusal() error {
	req, err := http.NewRequestWithContext(x.a.ctx, http.MethodPost, x.t.verifyURL(), strings.NewReader("{}"))
	if err != nil {
		return badURL(x.t.verifyURL())
	}
	addSignature(req, x.t, rand.Text(), []byte("{}"))
	status, _, _, err := x.t.do(req)
	if err == nil && status != http.StatusUnauthorized {
		return &failure{fmt.Sprintf("a call with a wrong signature got HTTP status %d and not 401", status), "is something in between that answers for the server? Until you know, do not trust what it allows"}
	}
	return err
}

// channels asks the server to try each of them.
func (x *trial) channels() {
	var out struct {
		Kind     string   `json:"kind"`
		Channels []probed `json:"channels"`
		Runtimes []struct {
			Name  string `json:"name"`
			Text  string `json:"text"`
			Fault string `json:"fault"`
		} `json:"runtimes"`
	}
	in := struct {
		Send bool `json:"send"`
	}{x.SendCard}
	if err := x.ask(x.a, http.MethodPost, "/owner/test", in, &out); err != nil || out.Kind != "" {
		if err == nil {
			err = &failure{"the token's holder may not answer, so the channels were not tried", ""}
		}
		x.say("channels", "", err)
		return
	}
	for _, r := range out.Runtimes {
		var err error
		if r.Fault != "" {
			err = &failure{r.Fault, ""}
		}
		x.say(printable(r.Name), printable(r.Text), err)
	}
	if len(out.Runtimes) == 0 {
		x.a.printf("none    %-10s no plugin has said hello since the server started; OpenClaw's does within five minutes, and when its gateway starts\n", "runtimes")
	}
	if len(out.Channels) == 0 {
		x.say("channels", "no chat: you answer on the page or with `verifier watch`; `verifier setup telegram` adds a chat", nil)
	}
	for _, ch := range out.Channels {
		x.say(printable(ch.Channel), ch.text(), ch.err())
	}
}

// probed is what the server says of a channel.
type probed struct {
	Channel string `json:"channel"`
	Who     string `json:"who"`
	Error   string `json:"error"`
	Deaf    string `json:"deaf"`
	Asked   bool   `json:"asked"`
	Sent    bool   `json:"sent"`
}

func (p probed) text() string {
	who := p.Who
	switch {
	case who == "" && !p.Asked:
		who = "can't be asked; --send-card shows whether cards arrive"
	case who == "":
		who = "works"
	}
	if p.Sent {
		who += "; a test card was sent"
	}
	return printable(who)
}

func (p probed) err() error {
	switch {
	case p.Error != "":
		return &failure{p.Error, "see the channel in the config; the server's log says more"}
	case p.Deaf != "":
		return &failure{"cards arrive, but answers are no longer heard there: " + p.Deaf, "fix it and restart the server; until then answer with `verifier approve`"}
	}
	return nil
}
