package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	good  = "5f0c3b1d9a7e4c2288b6d1f3e0a9c7b4"
	other = "c41e7a90b2d84f6f93a5d7e1084b6c2f"
	third = "77d0e5b8a1c34962bf08e3d6915a4c2e"
)

func env(name string) (string, bool) {
	v, ok := map[string]string{
		"GOOD": good, "HALF": "91b3c5", "EMPTY": "", "VERIFIER_HMAC_SECRET": other, "TELEGRAM_VERIFIER_BOT_TOKEN": "1:" + third,
	}[name]
	return v, ok
}

func parse(t *testing.T, text string) (*config.Config, []config.Finding) {
	t.Helper()
	c, findings, err := config.Parse("v.yaml", []byte(text), env, chats)
	if err != nil {
		t.Fatalf("refused:\n%v\n%s", err, text)
	}
	return c, findings
}

// refusals are errors and hints, a line each.
func refusals(t *testing.T, text string) string {
	t.Helper()
	_, _, err := config.Parse("v.yaml", []byte(text), env, chats)
	all, ok := errors.AsType[config.Errors](err)
	if !ok {
		t.Fatalf("not refused: %v\n%s", err, text)
	}
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "%v\nhint: %s\n", e, e.Hint)
	}
	return b.String()
}

func TestAnEmptyFileIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}", "---\n{}\n"} {
		c, _ := parse(t, text)
		if diff := cmp.Diff(config.Default().Webhook, c.Webhook, cmp.AllowUnexported(config.Secret{})); diff != "" || c.Listen != "127.0.0.1:8787" || c.ApprovalTTL() != 30*time.Minute {
			t.Errorf("%q: %s", text, diff)
		}
		if c.Webhook.Hold != 25*time.Second || c.Webhook.MaxHold != 590*time.Second || c.Webhook.Tolerance != 5*time.Minute || c.Webhook.Path != "/verify" {
			t.Errorf("%q: webhook is %+v", text, c.Webhook)
		}
	}
}

const everything = `
listen: 127.0.0.1:9000
ownerToken: ${GOOD}
webhook:
  path: /ask
  secrets: [` + other + `]
  clients:
    laptop: [` + third + `]
    7: ["pre-${HALF}-fix-d02c61"]
  bearer: 0ab4c8d2-7766-4e1f
  tolerance: 60
  hold: 20s
  maxHold: 1.5
profile: strict
taintPolicy: {shared: allow, external: confirm, untrusted: restrict}
toolOverrides:
  exec: {"*": confirm, untrusted: restrict}
trust:
  tools: {my_tool: shared}
  unknownSender: external
taint: {from: shared}
scope: {exclude: [read]}
maxIterations: 20
agents:
  main: {taintPolicy: {shared: confirm}, maxIterations: 5}
store: {url: "redis://:pw@127.0.0.1:6379/0", key: 18d2a6c05b7f4e93b1c8027f5e9a6d4c18d2}
approvalTtlSeconds: 300
approval: {maxMinutes: 30, maxOpen: 3, approvals: 1}
approvers:
  - {name: Ann, ids: ["telegram:123", "token:owner"]}
  - name: Bob
    token: 6e1b9d70-c2f4-48a5-b3d8
channels:
  telegram: {enabled: true, botToken: "${TELEGRAM_VERIFIER_BOT_TOKEN}", chatId: "1", timeout: 120, allowedUserIds: [123]}
redact: {fields: [iban]}
audit: {path: /tmp/r.jsonl, params: names, sync: each, rotateMB: 5, keep: 3}
`

func TestEveryKeyLoads(t *testing.T) {
	c, _ := parse(t, strings.Replace(everything, "maxHold: 1.5", "maxHold: 90.5", 1))
	if c.Webhook.Tolerance != time.Minute || c.Webhook.Hold != 20*time.Second || c.Webhook.MaxHold != 90500*time.Millisecond {
		t.Errorf("durations: %+v", c.Webhook)
	}
	if c.OwnerToken.Reveal() != good || c.Clients()["7"][0].Reveal() != "pre-91b3c5-fix-d02c61" || c.Clients()[config.DefaultClient][0].Reveal() != other {
		t.Errorf("secrets are not what the file and the environment say: %v", c.Clients())
	}
	p := c.Policy
	if p.Profile != "strict" || *p.TaintPolicy.Shared != taint.Allow || *p.ToolOverrides["exec"].Any != taint.Confirm || *p.ToolOverrides["exec"].Untrusted != taint.Restrict {
		t.Errorf("policy: %+v", p)
	}
	if p.Trust.Tools["my_tool"] != taint.Shared || *p.Trust.UnknownSender != taint.External || *p.Taint.From != taint.Shared || p.MaxIterations != 20 || p.Agents["main"].MaxIterations != 5 {
		t.Errorf("policy: %+v", p)
	}
	want := []approval.Person{{Name: "Ann", IDs: []string{"telegram:123", "token:owner"}}, {Name: "Bob", IDs: []string{"token:Bob"}}}
	if diff := cmp.Diff(want, c.People()); diff != "" {
		t.Error(diff)
	}
	if tokens := c.Tokens(c.OwnerToken); len(tokens) != 2 || tokens["Bob"].Reveal() != "6e1b9d70-c2f4-48a5-b3d8" {
		t.Errorf("tokens: %v", tokens)
	}
	if diff := cmp.Diff(approval.Config{MaxMinutes: 30, MaxOpen: 3, Approvals: 1}, c.Approval); diff != "" || c.Audit != (config.Audit{Path: "/tmp/r.jsonl", Params: config.ParamsNames, Sync: config.SyncEach, RotateMB: 5, Keep: 3}) {
		t.Errorf("approval %+v, audit %+v", c.Approval, c.Audit)
	}
}

// A channel decodes its own section, as strictly as the rest, with places.
func TestAChannelDecodesItsOwnSection(t *testing.T) {
	c, _ := parse(t, everything[:strings.Index(everything, "  maxHold")]+everything[strings.Index(everything, "profile:"):])
	var telegram struct {
		Enabled        bool          `yaml:"enabled"`
		BotToken       string        `yaml:"botToken"`
		ChatID         string        `yaml:"chatId"`
		Timeout        time.Duration `yaml:"timeout"`
		AllowedUserIDs []int64       `yaml:"allowedUserIds"`
	}
	if err := c.Channels["telegram"].Decode(&telegram); err != nil {
		t.Fatal(err)
	}
	if !telegram.Enabled || telegram.BotToken != "1:"+third || telegram.Timeout != 2*time.Minute || telegram.AllowedUserIDs[0] != 123 {
		t.Errorf("%+v", telegram)
	}
	var less struct {
		Enabled bool `yaml:"enabled"`
	}
	err := c.Channels["telegram"].Decode(&less)
	if err == nil || !strings.Contains(err.Error(), "channels.telegram.botToken: unknown key") || !strings.Contains(err.Error(), "v.yaml:3") {
		t.Errorf("an unknown key of a channel: %v", err)
	}
}

func TestH48UnknownKeysAndWrongTypesNameTheirPlace(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a wrapper in another spelling", "tools:\n  verifer: {scope: {include: [exec]}}\n", "v.yaml:2:13: tools.verifer.scope: unknown key\nhint: did you mean \"tools.verifier.scope\"? For a tool of your own, known here are "},
		{"another wrapper in another spelling", "tools:\n  Cautoin: {auditor: {}}\n", "v.yaml:2:13: tools.Cautoin.auditor: unknown key\nhint: did you mean \"tools.caution.auditor\"?"},
		{"unknown in a tool of one's own", "tools:\n  verify_mail: {sorce: true}\n", "v.yaml:2:17: tools.verify_mail.sorce: unknown key\nhint: did you mean \"source\"?"},
		{"unknown at the top", "listen: 127.0.0.1:1\nwebhok: {}\n", "v.yaml:2:1: webhok: unknown key\nhint: did you mean \"webhook\"?"},
		{"unknown in a group", "webhook:\n  pth: /x\n", "v.yaml:2:3: webhook.pth: unknown key\nhint: did you mean \"path\"?"},
		{"unknown in an inlined group", "taintPolicy:\n  extern: allow\n", "v.yaml:2:3: taintPolicy.extern: unknown key\nhint: did you mean \"external\"?"},
		{"unknown in a map of groups", "toolOverrides:\n  exec: {untrustd: allow}\n", "v.yaml:2:10: toolOverrides.exec.untrustd: unknown key\nhint: did you mean \"untrusted\"?"},
		{"unknown in a list of groups", "approvers:\n  - nam: x\n    ids: [telegram:1]\n", "v.yaml:2:5: approvers[0].nam: unknown key\nhint: did you mean \"name\"?"},
		{"unknown in an agent", "agents:\n  main:\n    toolOveride: {}\n", "v.yaml:3:5: agents.main.toolOveride: unknown key\nhint: did you mean \"toolOverrides\"?"},
		{"another case", "Listen: x\n", "Listen: unknown key\nhint: did you mean \"listen\"?"},
		{"another separator", "owner_token: x\n", "owner_token: unknown key\nhint: did you mean \"ownerToken\"?"},
		{"nothing near", "frobnicate: 1\n", "hint: the nearest known key is"},
		{"what the program sets", "guard: {}\n", "guard: unknown key"},
		{"an unknown channel", "channels:\n  telegrm: {}\n", "v.yaml:2:3: channels.telegrm: unknown channel\nhint: did you mean \"telegram\"?"},
		{"twice", "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", "v.yaml:2:1: listen: is here for the second time"},
		{"twice in JSON", `{"taint": {"from": "shared", "from": "untrusted"}}`, "v.yaml:1:30: taint.from: is here for the second time"},
		{"a list for a group", "webhook: [a]\n", "v.yaml:1:10: webhook: must be a group of keys, not a list"},
		{"a group for text", "listen:\n  host: x\n", "v.yaml:2:3: listen: must be text, not a group of keys"},
		{"a number for a secret", "ownerToken: 12345678901234567\n", "v.yaml:1:13: ownerToken: must be text, not a number\nhint: put quotes around it"},
		{"text for a number", "maxIterations: ten\n", "v.yaml:1:16: maxIterations: must be a whole number, not text"},
		{"a fraction for a whole number", "maxIterations: 1.5\n", "must be a whole number"},
		{"too large a number", "maxIterations: 99999999999999999999\n", "v.yaml:1:16: maxIterations: "},
		{"text for a truth", "redact: {showFileBodies: yes}\n", "redact.showFileBodies: must be true or false, not text"},
		{"no duration", "webhook: {hold: soon}\n", "v.yaml:1:17: webhook.hold: is not a duration such as 25s"},
		{"a list for a duration", "webhook: {hold: [1]}\n", "webhook.hold: must be a duration such as 25s or 5m, or a number of seconds, not a list"},
		{"an unknown mode", "taintPolicy: {shared: alow}\n", "v.yaml:1:23: taintPolicy.shared: unknown mode \"alow\"\nhint: use allow, confirm or restrict"},
		{"an unknown level", "taint: {from: evil}\n", "taint.from: unknown trust level \"evil\"\nhint: use one of system"},
		{"an unknown word", "audit: {sync: always}\n", "audit.sync: unknown word \"always\"\nhint: use none or each"},
		{"ntfy without a topic", "notify:\n  ntfy:\n    url: https://ntfy.sh/\n", "v.yaml:3:5: notify.ntfy.url: names no topic\nhint: write it as https://ntfy.sh/a-topic-that-is-hard-to-guess"},
		{"ntfy at no address", "notify:\n  ntfy:\n    url: ntfy.lan\n", "v.yaml:3:5: notify.ntfy.url: is no address to send to\nhint: write it as https://ntfy.sh/a-topic-that-is-hard-to-guess"},
		{"a token for no server", "notify:\n  ntfy:\n    token: 6e1b9d70c2f448a5b3d8\n", "notify.ntfy.url: is missing\nhint: write where the messages go, or remove the section"},
		{"no value", "approvers:\nlisten: 127.0.0.1:1\n", "v.yaml:1:1: approvers: has no value\nhint: give it one, or remove the key"},
		{"a list as the file", "- a\n", "v.yaml:1:1: must be a group of keys, not a list"},
		{"an alias", "listen: &a 127.0.0.1:1\naudit: {path: *a}\n", "v.yaml:2:15: audit.path: uses a YAML anchor"},
		{"a tag", "listen: !!str 1\n", "listen: uses a YAML anchor, alias or tag"},
		{"a merge", "<<: {listen: x}\n", "has a key that is not a plain word"},
		{"two documents", "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n", "a second document begins here"},
		{"no YAML", "webhook: [\n", "v.yaml:1:10: is not valid YAML"},
		{"a bare star", "toolOverrides:\n  exec:\n    *: allow\n", "hint: put quotes around the star"},
		{"a tab", "webhook:\n\tpath: /x\n", "spaces, not by tabs"},
		{"not UTF-8", "listen: \xff\n", "is not UTF-8"},
		{"depth", strings.Repeat("[", 100_000), "is nested too deeply"},
		{"depth by dashes", strings.Repeat("- ", 100_000), "is nested too deeply"},
		{"the policy's own word", "profile: default\nscope:\n  include: [exec]\n  exclude: [read]\n", "v.yaml:2:1: scope: has both include and exclude"},
		{"an unknown profile", "profile: paranoyd\n", "v.yaml:1:1: profile: there is no profile"},
		{"an unknown mode of the auditor", "caution:\n  auditor:\n    mode: autoaprove\n", "v.yaml:3:11: caution.auditor.mode: unknown word \"autoaprove\"\nhint: use advise, escalate or autoApprove"},
		{"an unknown fail mode of the auditor", "caution:\n  auditor: {failMode: open}\n", "v.yaml:2:23: caution.auditor.failMode: unknown word \"open\"\nhint: use block, warn or allow"},
		{"an unknown key of the auditor", "caution:\n  auditor: {modl: x}\n", "v.yaml:2:13: caution.auditor.modl: unknown key\nhint: did you mean \"mode\"?"},
		{"caution that is no truth", "caution:\n  tools: {browser: maybe}\n", "v.yaml:2:20: caution.tools.browser: must be true or false, not text"},
		{"a redacted field of nothing", "redact:\n  fields: [iban, '--']\n", "v.yaml:2:18: redact.fields[1]: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusals(t, tt.text); !strings.Contains(got, tt.want) {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestAllErrorsAreReportedInTheOrderOfTheFile(t *testing.T) {
	got := refusals(t, "lisen: x\nwebhook:\n  hold: 20m\n  secret: changeme\nmaxIterations: many\n")
	at := -1
	for _, want := range []string{"v.yaml:1:1: lisen", "v.yaml:3:3: webhook.hold", "v.yaml:4:3: webhook.secret", "v.yaml:5:16: maxIterations"} {
		i := strings.Index(got, want)
		if i <= at {
			t.Fatalf("%q is missing or out of order in\n%s", want, got)
		}
		at = i
	}
}

func TestBounds(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"listen: 8787", "listen: must be text"},
		{"listen: localhost", "listen: is not host:port"},
		{"listen: 127.0.0.1:99999", "listen: is not host:port"},
		{"webhook: {path: verify}", "webhook.path: is not a plain path"},
		{"webhook: {path: /a/../b}", "webhook.path: is not a plain path"},
		{"webhook: {path: /owner/x}", "webhook.path: is one of the server's own"},
		{"webhook: {hold: 10m}", "webhook.hold: is longer than webhook.maxHold, which is 9m50s"},
		{"webhook: {hold: 0}", "webhook.hold: must be from 1s to 10m0s, not 0s"},
		{"webhook: {hold: -1}", "webhook.hold: must not be negative"},
		{"webhook: {hold: 1s, maxHold: 601}", "webhook.maxHold: must be from 1s to 10m0s, not 10m1s"},
		{"webhook: {tolerance: 16m}", "webhook.tolerance: must be from 1s to 15m0s, not 16m0s"},
		{"webhook: {secrets: []}", "webhook.secrets: is empty"},
		{"webhook: {clients: {a: []}}", "webhook.clients.a: has no secret"},
		{"webhook: {relayApprovals: {laptop: [telegram]}}", "webhook.relayApprovals.laptop: is no client"},
		{"webhook: {relayApprovals: {default: [webchat]}}", "webhook.relayApprovals.default[0]: is no platform whose users have ids that never change"},
		{"webhook: {relayApprovals: {default: []}}", "webhook.relayApprovals.default: names no platform"},
		{"webhook: {path: /gate/approve}", "webhook.path: is one of the server's own"},
		{"webhook: {path: /gate/answered}", "webhook.path: is one of the server's own"},
		{"webhook: {secret: " + good + ", clients: {default: [" + other + "]}}", "webhook.clients.default: is also the client of webhook.secret"},
		{"caution: {auditor: {provider: gemini, model: m}}", "caution.auditor.provider: is none that we can ask"},
		{"caution: {auditor: {provider: openai, key: " + good + "}}", "caution.auditor.model: is missing"},
		{"caution: {auditor: {provider: openai, model: m}}", "caution.auditor.key: is missing, and the provider's own server wants one"},
		{"caution: {auditor: {model: m}}", "caution.auditor: names no provider, so no model would be asked"},
		{"caution: {auditor: {provider: openai, model: m, baseUrl: 127.0.0.1}}", "caution.auditor.baseUrl: is no address of a server"},
		{"caution: {auditor: {provider: openai, model: m, baseUrl: 'http://a:b@127.0.0.1/v1'}}", "caution.auditor.baseUrl: holds a password"},
		{"caution: {auditor: {timeoutMs: 99}}", "caution.auditor.timeoutMs: must be from 100 to 20000, not 99"},
		{"caution: {tools: {bash: true, exec: false}}", "caution.tools: names a tool twice, or with no name"},
		{"approvalTtlSeconds: 9", "approvalTtlSeconds: must be from 10 to 3600, not 9"},
		{"approvalTtlSeconds: 3601", "approvalTtlSeconds: must be from 10 to 3600"},
		{"approval: {maxMinutes: -1}", "approval.maxMinutes: must be from 0 to 1440"},
		{"maxIterations: -1", "maxIterations: must be from 0"},
		{"agents: {a: {maxIterations: -1}}", "agents.a.maxIterations: must be from 0"},
		{"store: {url: mysql://x}", "store.url: names no store that we have"},
		{"store: {url: ''}", "store.url: names no store that we have"},
		{"store: {url: 'redis://a,'}", "store.url: names no host"},
		{"approvers: [{ids: ['telegram:1']}]", "approvers[0]: has no name"},
		{"approvers: [{name: a}]", "approvers[0]: has neither ids nor a token"},
		{"approvers: [{name: a, ids: ['telegram:1']}, {name: A, ids: ['telegram:2']}]", "approvers[1].name: is also the name of approvers[0]"},
		{"approvers: [{name: a, ids: ['telegram:1']}, {name: b, ids: ['telegram:1']}]", "approvers[1].ids[0]: also belongs to a"},
		{"approvers: [{name: a, ids: ['telegram:@ann']}]", "approvers[0].ids[0]: is not a telegram user id, which is a positive number"},
		{"approvers: [{name: a, ids: ['telegram:ann']}]", "is not a telegram user id, which is a positive number\nhint: it is the number of the account, which Telegram never changes; a name such as @ann can be taken over"},
		{"approvers: [{name: a, ids: [telegram:1]}]", "hint: if it is meant as text with a colon in it, put quotes"},
		{"webhook: {secret: ${GOOD}}", `put quotes around it: "${NAME}"`},
		{"approvers: [{name: a, ids: ['123']}]", "does not begin with a platform"},
		{"approvers: [{name: a, ids: ['token:a']}]", "is no id that can be given"},
		{"approvers: [{name: owner, token: " + good + "}]", "approvers[0].token: would be a second token of the owner"},
	} {
		if got := refusals(t, tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%swant\n%s", tt.text, got, tt.want)
		}
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{filepath.Join(dir, "no.yaml"): "there is no such file", dir: "is a directory"} {
		_, _, err := config.Load(path, env, chats)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s) = %v, want %s", path, err, want)
		}
	}
}

func TestASecretInAFileThatOthersCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.yaml")
	for text, refused := range map[string]bool{
		"ownerToken: " + good + "\n":                                 true,
		"webhook: {secret: 'a${GOOD}'}\n":                            true,
		"channels: {telegram: {botToken: '1:" + third + "'}}\n":      true,
		"ownerToken: ${GOOD}\n":                                      false,
		"channels: {telegram: {botToken: '${GOOD}', chatId: 'x'}}\n": false,
		"listen: 127.0.0.1:1\n":                                      false,
		"store: {url: 'redis://127.0.0.1:6379/0'}\n":                 false,
		"store: {url: 'redis://:pw@127.0.0.1:6379/0'}\n":             true,
		"store: {url: 'redis://127.0.0.1:6379/0?password=pw'}\n":     true,
	} {
		write(t, path, text, 0o640)
		_, _, err := config.Load(path, env, chats)
		if refused != (err != nil && strings.Contains(err.Error(), "a secret is in a file that others can read")) {
			t.Errorf("%q: %v", text, err)
		}
		write(t, path, text, 0o600)
		if _, _, err := config.Load(path, env, chats); err != nil {
			t.Errorf("%q at 0600: %v", text, err)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{everything, "", "a: [", "{\"taintPolicy\": {\"shared\": \"allow\"}}", "webhook: {hold: .inf}", "? a\n: b", "a: *b", "a: |\n  x", "ownerToken: ${", "ownerToken: file:/", "approvers: [[]]", "1: 2", "a.b[0]: {}", "scope: {include: [a, {b: c}]}", "agents: {list: [{id: a, tools: {verifier: {scope: {include: [exec]}, telegram: {enabled: true}}}}, 5]}", fmt.Sprintf(perAgent, "{chatId: -5, allowedUserIds: [11]}")} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, err := config.Parse("f.yaml", text, env, chats)
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
		if _, ok := errors.AsType[config.Errors](err); err != nil && !ok {
			t.Fatalf("error of type %T", err)
		}
	})
}

func TestEveryPatternThatIsWrongIsNamed(t *testing.T) {
	_, _, err := config.Parse("v.yaml", []byte("redact:\n  fields: ['-']\n  patterns:\n    - {regex: '[0-9'}\n    - {regex: 'a+', example: bbb}\n    - {regex: 'a*'}\n"), os.LookupEnv, chats)
	all, _ := errors.AsType[config.Errors](err)
	var at []string
	for _, e := range all {
		at = append(at, fmt.Sprint(e.Line, " ", e.Path))
	}
	if want := "[2 redact.fields[0] 4 redact.patterns[0].regex 5 redact.patterns[1].example 6 redact.patterns[2].regex]"; fmt.Sprint(at) != want {
		t.Errorf("got  %v\nwant %s", at, want)
	}
}
