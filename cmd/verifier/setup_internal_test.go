package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
)

// installation is `verifier setup` that runs in the background.
type installation struct {
	t      *testing.T
	screen *output
	config string
	ended  chan int
}

// setUp starts it with a config of this text; "" is none.
func setUp(t *testing.T, before, chat, url string, tokens ...string) *installation {
	t.Helper()
	dir := t.TempDir()
	i := &installation{t: t, screen: &output{}, config: filepath.Join(dir, "verifier.yaml"), ended: make(chan int, 1)}
	if before != "" {
		if err := os.WriteFile(i.config, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"setup", chat, "--config", i.config, "--state", dir, "--api-url", url, "--name", "Ann"}
	for n, token := range tokens {
		file := filepath.Join(dir, "given-"+string(rune('a'+n)))
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--token-file", file)
	}
	a := &app{chats: builtin, ctx: t.Context(), stdin: strings.NewReader(""), stdout: i.screen, stderr: i.screen}
	go func() { i.ended <- a.run(args) }()
	return i
}

var shownCode = regexp.MustCompile(`\.pair ([0-9a-f]{8})`)

// code waits until the terminal shows one.
func (i *installation) code() string {
	i.t.Helper()
	redistest.Eventually(i.t, "the terminal shows a code", func() bool {
		if len(i.ended) > 0 {
			i.t.Fatalf("it has ended:\n%s", i.screen)
		}
		return strings.Contains(i.screen.String(), "Waiting for the code")
	})
	return shownCode.FindStringSubmatch(i.screen.String())[1]
}

// done waits for its end, and reads the config that it wrote.
func (i *installation) done(secrets ...string) (string, *config.Config) {
	i.t.Helper()
	if code := <-i.ended; code != exitOK {
		i.t.Fatalf("setup ended with %d:\n%s", code, i.screen)
	}
	text, err := os.ReadFile(i.config)
	if err != nil {
		i.t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(string(text), secret) || strings.Contains(i.screen.String(), secret) {
			i.t.Errorf("the token is in the config or on the screen:\n%s\n%s", text, i.screen)
		}
	}
	cfg, _, err := config.Load(i.config, os.LookupEnv, builtin.platforms())
	if err != nil {
		i.t.Fatalf("%v\n%s", err, text)
	}
	if err := builtin.check(cfg); err != nil {
		i.t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Dir(i.config) + "/*.*Token")
	for _, f := range append(files, i.config) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			i.t.Errorf("others can read %s: %v", f, err)
		}
	}
	if !strings.Contains(i.screen.String(), "Sent a test card.") {
		i.t.Errorf("no test card:\n%s", i.screen)
	}
	return string(text), cfg
}

const commented = `# My settings.
listen: 127.0.0.1:0 # any port

# channels:
#   telegram: {botToken: "${X}"}
approval:
  maxOpen: 3 # few
`

func TestSetupConnectsTelegram(t *testing.T) {
	t.Parallel()
	tg := telegramtest.New(t, botToken)
	i := setUp(t, commented, "telegram", tg.URL(), botToken)
	code := i.code()
	ann, eve := telegramtest.Person{ID: 4711, Name: "ann"}, telegramtest.Person{ID: 666, Name: "eve"}
	tg.Say(eve, eve.ID, 0, "/start", nil)
	tg.Say(eve, eve.ID, 0, ".pair 00000000", nil)
	tg.Say(eve, eve.ID, 0, ".approve exec "+code, nil)
	tg.Say(telegramtest.Person{ID: 667, Name: "bot", Bot: true}, 667, 0, ".pair "+code, nil)
	tg.Say(ann, ann.ID, 0, "/start "+code, nil) // what the link does
	text, cfg := i.done(botToken)
	for line := range strings.Lines(commented) {
		if !strings.Contains(text, line) {
			t.Errorf("the config lost %q:\n%s", line, text)
		}
	}
	people := cfg.People()
	if len(people) != 1 || people[0].Name != "Ann" || strings.Join(people[0].IDs, " ") != "token:owner telegram:4711" {
		t.Errorf("these may approve: %+v", people)
	}
	redistest.Eventually(t, "the test card is there", func() bool {
		for _, m := range tg.Messages() {
			if m.Chat == ann.ID && strings.Contains(m.Text, "There is nothing to answer") {
				return true
			}
		}
		return false
	})
}

func TestSetupConnectsDiscord(t *testing.T) {
	t.Parallel()
	dc := discordtest.New(t, discordToken)
	i := setUp(t, "", "discord", dc.URL(), discordToken)
	code := i.code()
	if err := dc.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	dc.Say(discordtest.Person{ID: "80351110224678912", Name: "ann"}, discordtest.DirectID("80351110224678912"), "", ".pair "+code, nil)
	if _, cfg := i.done(discordToken); cfg.People()[0].IDs[1] != "discord:80351110224678912" {
		t.Errorf("these may approve: %+v", cfg.People())
	}
}

func TestSetupConnectsSlack(t *testing.T) {
	t.Parallel()
	sl := slacktest.New(t, slackKeys)
	i := setUp(t, "approvers: [] # nobody yet\n", "slack", sl.URL(), slackKeys.BotToken, slackKeys.AppToken)
	code := i.code()
	redistest.Eventually(t, "the app is connected", func() bool { return sl.Connections() > 0 })
	sl.Say(slacktest.Person{ID: "U024BE7LH", Name: "ann"}, "D024BE7LH", "", ".pair "+code, nil)
	if _, cfg := i.done(slackKeys.BotToken, slackKeys.AppToken); len(cfg.People()) != 1 || cfg.People()[0].IDs[0] != "slack:U024BE7LH" {
		t.Errorf("these may approve: %+v", cfg.People())
	}
}

// Whoever else writes to the bot has five tries, and changes nothing.
func TestSetupStopsAfterFiveWrongCodes(t *testing.T) {
	t.Parallel()
	tg := telegramtest.New(t, botToken)
	i := setUp(t, commented, "telegram", tg.URL(), botToken)
	i.code()
	eve := telegramtest.Person{ID: 666, Name: "eve"}
	for range pairTries {
		tg.Say(eve, eve.ID, 0, ".pair 00000000", nil)
	}
	if code := <-i.ended; code != exitError || !strings.Contains(i.screen.String(), "5 wrong codes came") {
		t.Errorf("%d:\n%s", code, i.screen)
	}
	if text, _ := os.ReadFile(i.config); string(text) != commented {
		t.Errorf("the config is another one:\n%s", text)
	}
}

func TestAPairingTakesOneCodeOnce(t *testing.T) {
	t.Parallel()
	p := pairing{code: "bf619df9", platform: "telegram", done: make(chan struct{})}
	say := func(id, text string) string {
		o, err := p.answer(context.Background(), approval.Answer{ID: id, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return o.Text
	}
	for _, text := range []string{".pair bf619df8", ".approve exec bf619df9", ".pending", ".pair", ""} {
		if say("telegram:7", text); p.person() != "" {
			t.Fatalf("%q pairs", text)
		}
	}
	if say("slack:U1", ".pair bf619df9"); p.person() != "" {
		t.Fatal("another platform pairs")
	}
	say("telegram:7", ".PAIR BF619DF9")
	if say("telegram:8", ".pair bf619df9"); p.person() != "7" {
		t.Errorf("paired with %q", p.person())
	}
}

func TestSetupSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tg := telegramtest.New(t, botToken)
	for want, start := range map[string]func() *installation{
		"name one of telegram, discord, slack": func() *installation { return setUp(t, "", "pigeon", tg.URL(), botToken) },
		"is the token right?":                  func() *installation { return setUp(t, "", "telegram", tg.URL(), "123456789:"+strings.Repeat("A", 35)) },
		"botToken is missing or is no bot":     func() *installation { return setUp(t, "", "telegram", tg.URL(), "nonsense") },
		"has channels.telegram already": func() *installation {
			return setUp(t, "channels: {telegram: {botToken: \"${HOME}\", chatId: 1}}\n", "telegram", tg.URL(), botToken)
		},
		"there is no terminal to type the token at": func() *installation { return setUp(t, "", "telegram", tg.URL()) },
		"Telegram has 1 token, and 2":               func() *installation { return setUp(t, "", "telegram", tg.URL(), "a", "b") },
	} {
		i := start()
		if code := <-i.ended; code != exitError || !strings.Contains(i.screen.String(), want) {
			t.Errorf("%d, want %q:\n%s", code, want, i.screen)
		}
	}
	i := setUp(t, `{"channels": {"slack": {"enabled": false}}}`, "telegram", tg.URL(), botToken)
	tg.Say(telegramtest.Person{ID: 4711, Name: "ann"}, 4711, 0, ".pair "+i.code(), nil)
	if code := <-i.ended; code != exitError || !strings.Contains(i.screen.String(), "add this yourself") || strings.Contains(i.screen.String(), botToken) {
		t.Errorf("%d:\n%s", code, i.screen)
	}
}
