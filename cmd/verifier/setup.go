package main

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// SetupCmd connects a chat.
type SetupCmd struct {
	Chat      string   `arg:"" help:"Which chat: telegram, discord or slack."`
	TokenFile []string `help:"A file that holds the bot's token; - is standard input. Slack has two: give the bot's first, then the app's." placeholder:"FILE" sep:"none"`
	Name      string   `help:"What you are called in the record, if the config lists no approvers. Without it: your user name." placeholder:"NAME"`
	APIURL    string   `name:"api-url" help:"Where the chat's API is, if you run one of your own." placeholder:"URL"`
	configFlag
	State string `help:"The server's state directory." env:"VERIFIER_STATE" placeholder:"DIR"`
}

const (
	pairFor   = 10 * time.Minute
	pairTries = 5
)

// Run connects.
func (c *SetupCmd) Run(a *app) error {
	chat, err := a.chats.named(c.Chat)
	if err != nil {
		return err
	}
	s := settingUp{SetupCmd: c, app: a, chat: chat}
	if err := s.place(); err != nil {
		return err
	}
	if err := s.readTokens(); err != nil {
		return err
	}
	if err := s.pair(); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	return s.try()
}

// named is the chat of that name, if setup knows how to connect it.
func (all chats) named(name string) (chat, error) {
	var names []string
	for _, c := range all {
		if len(c.Setup.Tokens) == 0 {
			continue
		}
		if c.Name == strings.ToLower(name) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return chat{}, &failure{fmt.Sprintf("there is no chat %q to set up", printable(name)), "name one of " + strings.Join(names, ", ")}
}

// settingUp is one run of the command.
type settingUp struct {
	*SetupCmd
	app    *app
	chat   chat
	before string // the config's text; empty: there is none
	tokens []string
	who    string // the person's id on the platform
}

// place finds the config, and stops early where it can't be changed.
func (s *settingUp) place() error {
	if err := s.find(); err != nil {
		return err
	}
	if s.Config == "" {
		s.Config = cmp.Or(usualConfig(), configName)
	}
	text, err := os.ReadFile(s.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &failure{fmt.Sprintf("%s can't be read: %v", s.Config, err), "name another with --config"}
	}
	s.announce(s.app)
	s.before = string(text)
	cfg, _, err := s.app.loadConfig(s.Config)
	if err != nil {
		return err
	}
	if _, there := cfg.Channels[s.chat.Name]; there {
		return &failure{fmt.Sprintf("%s has channels.%s already", s.Config, s.chat.Name), "remove the section, and run this again"}
	}
	return nil
}

// readTokens takes the secrets from files, or asks for them.
func (s *settingUp) readTokens() error {
	if n := len(s.TokenFile); n > len(s.chat.Setup.Tokens) {
		return &failure{fmt.Sprintf("%s has %s, and %d --token-file were given", s.chat.Title, count(len(s.chat.Setup.Tokens), "token"), n), "see `verifier setup --help`"}
	}
	for i, token := range s.chat.Setup.Tokens {
		read := s.askFor
		if i < len(s.TokenFile) {
			read = func(approval.Token) (string, error) { return s.tokenFrom(s.TokenFile[i]) }
		}
		text, err := read(token)
		if err != nil {
			return err
		}
		if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text, " \t\r\n") {
			return &failure{"that is no token: it is one word", "it is " + token.Find}
		}
		s.tokens = append(s.tokens, text)
	}
	return nil
}

// maxToken is more than any token has.
const maxToken = 4 << 10

func (s *settingUp) tokenFrom(path string) (string, error) {
	in := s.app.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", &failure{fmt.Sprintf("the token can't be read: %v", err), "--token-file names a file that holds the token and nothing else"}
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxToken))
	return string(text), err
}

// askFor reads a token that does not show on the screen.
func (s *settingUp) askFor(token approval.Token) (string, error) {
	in, ok := s.app.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", &failure{"there is no terminal to type the token at", "put it into a file that only you can read, and name it with --token-file"}
	}
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return "", err
	}
	s.app.printf("I need %s.\nToken (it does not show): ", token.Find)
	type typed struct {
		text []byte
		err  error
	}
	read := make(chan typed, 1)
	go func() {
		text, err := term.ReadPassword(int(in.Fd()))
		read <- typed{text, err}
	}()
	select {
	case t := <-read:
		s.app.printf("\n")
		return string(t.text), t.err
	case <-s.app.ctx.Done():
		return "", errors.Join(&failure{"you gave up", "nothing was changed"}, term.Restore(int(in.Fd()), before))
	}
}

// section is the chat's part of the config. A value is what the config says in the place of a token.
func (s *settingUp) section(person string, value func(token approval.Token) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n", s.chat.Name)
	for _, token := range s.chat.Setup.Tokens {
		fmt.Fprintf(&b, "  %s: %s\n", token.Key, strconv.Quote(value(token)))
	}
	if s.APIURL != "" {
		fmt.Fprintf(&b, "  apiUrl: %s\n", strconv.Quote(s.APIURL))
	}
	fmt.Fprintf(&b, "  allowedUserIds: [%s]  # may approve; cards go here\n", strconv.Quote(person))
	return b.String()
}

// open makes the channel as it is before a person is known, or with that person.
func (s *settingUp) open(person string) (approval.Channel, error) {
	given := map[string]string{}
	for i, token := range s.chat.Setup.Tokens {
		given[token.Key] = s.tokens[i]
	}
	text, _ := config.Add("", "channels", s.section(person, func(t approval.Token) string { return "${" + t.Key + "}" }))
	cfg, _, err := config.Parse("what setup knows", []byte(text), func(name string) (string, bool) { v, ok := given[name]; return v, ok }, s.app.chats.platforms())
	if err != nil {
		return nil, err
	}
	opened, err := s.app.chats.open(cfg, delivery.Deps{})
	return opened[s.chat.Name], err
}

// introducer is a channel that can ask the platform what the bot is called there, before it is known where cards go.
// Neither the name nor the error, which says what to do, holds a secret.
type introducer interface {
	Introduce(ctx context.Context) (who string, err error)
}

// pair checks the tokens, and waits until someone who sees this terminal writes to the bot.
func (s *settingUp) pair() error {
	ch, err := s.open(s.chat.Setup.Anyone)
	if err != nil {
		return err
	}
	defer closeAll(map[string]approval.Channel{s.chat.Name: ch}) //nolint:errcheck // it was only listened to
	bot, ok := ch.(introducer)
	if !ok {
		return &failure{s.chat.Title + " can't be set up by this program", "see docs/channels.md"}
	}
	ctx, cancel := context.WithTimeout(s.app.ctx, pairFor)
	defer cancel()
	name, err := bot.Introduce(ctx)
	if err != nil {
		return &failure{err.Error(), "is the token right? It is " + s.chat.Setup.Tokens[0].Find}
	}
	p := pairing{code: fresh(4), platform: s.chat.Name, done: make(chan struct{})}
	s.app.printf("The token is good: it is the bot %s.\n\n%s\n\nWaiting for the code, for ten minutes. Ctrl-C gives up.\n", printable(name), s.chat.Setup.Pair(printable(name), p.code))
	listened, listening := make(chan error, 1), context.Context(nil)
	listening, stop := context.WithCancel(ctx)
	go func() { listened <- ch.Listen(listening, p.answer) }()
	err = s.await(ctx, ch, &p)
	stop()
	<-listened // it has told the person by then
	if err != nil {
		return err
	}
	s.who = p.person()
	return nil
}

// await waits for the code, and says what is wrong meanwhile.
func (s *settingUp) await(ctx context.Context, ch approval.Channel, p *pairing) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-p.done:
			if p.person() == "" {
				return &failure{fmt.Sprintf("%d wrong codes came: someone else writes to the bot", pairTries), "nothing was changed; run this again for a fresh code"}
			}
			return nil
		case <-ctx.Done():
			if s.app.ctx.Err() != nil {
				return &failure{"you gave up", "nothing was changed"}
			}
			return &failure{"the code did not come within ten minutes", "nothing was changed; run this again"}
		case <-tick.C:
			if sick, ok := ch.(ailing); ok {
				if err := sick.Health(); err != nil && err.Error() != said {
					said = err.Error()
					s.app.warnf("%s\n", printable(said))
				}
			}
		}
	}
}

// pairing takes the code from the one person who can see it.
type pairing struct {
	code     string
	platform string
	done     chan struct{} // closed when it is over

	mu    sync.Mutex
	who   string
	wrong int
}

// person is who wrote the code; empty: no person yet.
func (p *pairing) person() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.who
}

// answer takes what people write to the bot.
func (p *pairing) answer(_ context.Context, a approval.Answer) (approval.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := func(text string) (approval.Outcome, error) {
		return approval.Outcome{Kind: approval.Unauthorised, Text: text}, nil
	}
	cmd, err := codes.Parse(a.Text)
	id, ours := strings.CutPrefix(a.ID, p.platform+":")
	switch {
	case p.who != "" || p.wrong >= pairTries:
		return said("This is over. Run `verifier setup` again.")
	case err != nil || cmd.Verb != codes.Pair || !ours || id == "":
		return said("Write .pair and the code that `verifier setup` shows.")
	case subtle.ConstantTimeCompare([]byte(cmd.Code), []byte(p.code)) != 1:
		if p.wrong++; p.wrong == pairTries {
			close(p.done)
		}
		return said("That is not the code that the terminal shows.")
	}
	p.who = id
	close(p.done)
	return approval.Outcome{Kind: approval.Replied, Text: "This account may answer now. The terminal says how it goes on."}, nil
}

// write puts the tokens into files and the chat into the config.
func (s *settingUp) write() error {
	path, err := filepath.Abs(s.Config)
	if err != nil {
		return err
	}
	s.Config = path
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return refused(path, err)
	}
	section := s.section(s.who, func(t approval.Token) string { return "file:" + s.fileOf(t) })
	text, ok := config.Add(cmp.Or(s.before, "# Settings of verifier. docs/configuration.md says what else there is.\n"), "channels", section)
	person := s.approver()
	if ok && person != "" {
		text, ok = config.Add(text, "approvers", person)
	}
	by := InitCmd{Force: true}
	for i, token := range s.chat.Setup.Tokens {
		if err := by.write(s.fileOf(token), s.tokens[i]+"\n"); err != nil {
			return err
		}
	}
	if ok {
		cfg, _, err := config.Parse(path, []byte(text), os.LookupEnv, s.app.chats.platforms())
		ok = err == nil && s.app.chats.check(cfg) == nil
	}
	if !ok {
		return &failure{fmt.Sprintf("%s can't be changed without losing what you wrote in it", path), "add this yourself:\n\nchannels:\n  " + strings.ReplaceAll(strings.TrimSpace(section), "\n", "\n  ") + "\n"}
	}
	if err := by.write(path, text); err != nil {
		return err
	}
	s.app.printf("Paired with %s user %s. Wrote %s.\n", s.chat.Title, printable(s.who), path)
	return nil
}

// fileOf is where a token is kept.
func (s *settingUp) fileOf(t approval.Token) string {
	return filepath.Join(filepath.Dir(s.Config), s.chat.Name+"."+t.Key)
}

// approver names the person, where the config has no list: the owner token stays theirs.
func (s *settingUp) approver() string {
	if s.before != "" {
		cfg, _, err := s.app.loadConfig(s.Config)
		if err != nil || cfg.Approvers != nil {
			return ""
		}
	}
	name := s.Name
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	return fmt.Sprintf("- name: %s\n  ids: [%s, %s]\n", strconv.Quote(cmp.Or(name, "owner")), strconv.Quote(config.TokenID(config.Owner)), strconv.Quote(s.chat.Name+":"+s.who))
}

// try sends a test card, and says what comes next.
func (s *settingUp) try() error {
	ch, err := s.open(s.who)
	if err != nil {
		return err
	}
	defer closeAll(map[string]approval.Channel{s.chat.Name: ch}) //nolint:errcheck // nothing is under way
	ctx, cancel := context.WithTimeout(s.app.ctx, time.Minute)
	defer cancel()
	if _, err := ch.Send(ctx, approval.TestCard()); err != nil {
		return &failure{"the config is written, but the test card did not arrive: " + err.Error(), "`verifier test --send-card` tries again, with `verifier serve` running"}
	}
	s.app.printf("Sent a test card. ")
	flag := ""
	if s.Config != usualConfig() {
		flag = " --config " + shellWord(s.Config)
	}
	s.app.printf("Now start `%s serve%s`, or restart it if it runs: questions come to %s then.\n", programName(), flag, s.chat.Title)
	return nil
}
