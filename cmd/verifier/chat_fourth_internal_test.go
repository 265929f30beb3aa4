package main

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// The whole of a fourth channel: people are asked by pigeon. What the tests
// below show it needs besides is the line in withPigeons.
type (
	pigeonConfig struct {
		Loft           string        `yaml:"loft"`
		AllowedUserIDs []delivery.ID `yaml:"allowedUserIds"`
	}
	pigeons struct {
		out  chan *channels.Document
		back chan approval.Answer
		told chan approval.Outcome
	}
)

var ring = regexp.MustCompile(`^ring-[0-9]+$`)

func pigeonPlatform() approval.Platform {
	return approval.Platform{Name: "pigeon", Title: "Pigeon", IsUser: ring.MatchString, Looks: "the number of a ring", Find: "look at its leg; a name is no id"}
}

func (p *pigeons) Open(c pigeonConfig, _ delivery.Deps) (approval.Channel, error) {
	if c.Loft == "" {
		return nil, errors.New("channels.pigeon: say where the loft is")
	}
	return p, nil
}

func (p *pigeons) Send(_ context.Context, c *approval.Card) (string, error) {
	p.out <- channels.Details(c, c.Until().Add(-1))
	return c.Ref(), nil
}

func (p *pigeons) Settle(context.Context, string, *approval.Card, approval.Outcome) error { return nil }

func (p *pigeons) Listen(ctx context.Context, answer func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case a := <-p.back:
			o, err := answer(ctx, a)
			if err != nil {
				return err
			}
			p.told <- o
		}
	}
}

// withPigeons is the program with a fourth channel: one line more in its table.
func withPigeons(p *pigeons) chats {
	return append(slices.Clone(builtin), chatOf(pigeonPlatform(), p.Open))
}

// by is the program with these chats.
func (all chats) by(ctx context.Context, args ...string) (code int, out string) {
	b := &output{}
	code = (&app{chats: all, ctx: ctx, stdout: b, stderr: b}).run(args)
	return code, b.String()
}

func TestAFourthChannelIsOneLine(t *testing.T) {
	t.Parallel()
	p := &pigeons{out: make(chan *channels.Document, 8), back: make(chan approval.Answer), told: make(chan approval.Outcome)}
	four := withPigeons(p)
	s := serveWith(t, four, `
webhook: {secret: `+firstSecret+`, relayApprovals: {default: [pigeon]}}
approvers: [{name: Ann, pigeon: ring-7}, {name: Bob, ids: ["pigeon:ring-8"]}]
channels: {pigeon: {loft: roof, allowedUserIds: [ring-9]}}
agents: {main: {channels: [pigeon], approvers: [Ann]}}
`)
	sent := make(chan string, 1)
	go func() {
		_, out := four.by(t.Context(), "send", "--config", s.path("verifier.yaml"), "--state", s.path("the state"), "--url", s.url(), "--tool", "exec", "--params", `{"command":"date"}`)
		sent <- out
	}()
	doc := <-p.out
	once := slices.IndexFunc(doc.Buttons, func(b channels.Button) bool { return b.Action.Allows() })
	if once < 0 {
		t.Fatalf("no way to allow: %+v", doc.Buttons)
	}
	for id, want := range map[string]approval.Kind{"pigeon:ring-8": approval.Unauthorised, "pigeon:ring-9": approval.Unauthorised} {
		p.back <- approval.Answer{ID: id, Via: "pigeon", Handle: doc.Buttons[once].Handle}
		if o := <-p.told; o.Kind != want {
			t.Errorf("%s, who is not asked: %+v", id, o)
		}
	}
	p.back <- approval.Answer{ID: "pigeon:ring-7", Via: "pigeon", Handle: doc.Buttons[once].Handle}
	if o := <-p.told; o.Kind != approval.Counted {
		t.Errorf("Ann's tap: %+v", o)
	}
	if out := <-sent; !strings.Contains(out, "allow") {
		t.Errorf("the call was not released: %s", out)
	}
}

// What people are told of chats holds for the fourth, too.
func TestAFourthChannelIsKnownWhereverChatsAre(t *testing.T) {
	t.Parallel()
	four, s := withPigeons(&pigeons{}), &serving{t: t, dir: t.TempDir()}
	for text, want := range map[string]string{
		"channels: {pigeon: {loft: roof}}":                         "ok: ",
		"channels: {pigeon: {}}":                                   "channels.pigeon: say where the loft is",
		"channels: {pigeon: {lofd: roof}}":                         `did you mean "loft"?`,
		"channels: {pidgeon: {loft: roof}}":                        `did you mean "pigeon"? Known are `,
		"channels: {pigeon: {loft: a, allowedUserIds: [coo]}}":     "channels.pigeon.allowedUserIds[0]: is not a pigeon user id, which is the number of a ring",
		"pigeon: {loft: roof}":                                     "write it as channels.pigeon",
		"approvers: [{name: Ann, pigeon: coo}]":                    "look at its leg; a name is no id",
		"approvers: [{name: Ann, pigeo: ring-1}]":                  `did you mean "pigeon"?`,
		"approvers: [{name: Ann, ids: ['pigeon:coo']}]":            "is not a pigeon user id",
		"approvers: [{name: Ann}]":                                 " or pigeon with this person's user id there",
		"approvers: [{name: Ann, pigeon: ring-1}]":                 "Ann can't be reached",
		"agents: {main: {channels: [pigeon]}}":                     "add channels.pigeon, or take it out here",
		"webhook: {relayApprovals: {default: [dove]}}":             ", pigeon",
		"approvers: [{name: A, pigeon: ring-1, telegram: ring-1}]": "is not a telegram user id",
	} {
		s.put("verifier.yaml", text+"\n")
		if _, out := four.by(t.Context(), "check", "--config", s.path("verifier.yaml")); !strings.Contains(out, want) {
			t.Errorf("%s: got\n%swant\n%s", text, out, want)
		}
	}
	s.put("verifier.yaml", "channels: {pigeon: {loft: roof}}\n")
	var out bytes.Buffer
	if code := run(t.Context(), []string{"check", "--config", s.path("verifier.yaml")}, &out, &out); code != exitError || !strings.Contains(out.String(), "unknown channel") {
		t.Errorf("a program without pigeons says %d %s", code, &out)
	}
}

// A chat whose name means something else would take that thing's place: in an
// approver's entry, before the colon of an id, among the channels of an agent.
func TestChatsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	plain, taken := regexp.MustCompile(`^[a-z][a-z0-9]{1,20}$`), []string{"name", "ids", "token", approval.Terminal}
	for _, c := range builtin {
		if !plain.MatchString(c.Name) || slices.Contains(taken, c.Name) {
			t.Errorf("%q can't be the name of a chat", c.Name)
		}
		taken = append(taken, c.Name)
		if c.Title == "" || c.Looks == "" || c.Find == "" || c.IsUser == nil || c.IsUser("") || c.IsUser("Ann") {
			t.Errorf("say of %s what an id of its users is, so that a name is not taken for one", c.Name)
		}
	}
}
