// Package telegram asks people in a Telegram chat: a card with buttons in a
// direct chat with the bot, a group or a topic of a forum, and lines such as
// `.approve exec bf619df9 30` in a direct chat or in reply to the bot.
//
// Updates come by long polling, under a lease so that replicas don't take each
// other's. Pending updates are never dropped: a tap that was made while no
// gateway listened is taken afterwards. Nothing that the agent wrote is
// formatted: cards are sent as plain text with the places to emphasise beside
// it, so there is no markup to break out of, and foreign text is in code,
// where Telegram neither links nor mentions.
//
// The channel decides nothing. It refuses to hear bots, anonymous admins and
// forwarded lines, and to put the bot's token into an error.
package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"golang.org/x/time/rate"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Name is the channel's name: the section of the config, and what the ids of its
// people begin with.
const Name = "telegram"

// Config is the section channels.telegram.
type Config struct {
	// Enabled is looked at before the rest is: what is off is not opened.
	Enabled bool `yaml:"enabled"`
	// BotToken is what BotFather gave.
	BotToken string `yaml:"botToken"`
	// ChatID is where cards go: a person's id for a direct chat, a negative number
	// for a group. Unset: the one person in AllowedUserIDs.
	ChatID delivery.ID `yaml:"chatId"`
	// Chats are other chats of the bot, for single agents by their ids: cards about
	// such an agent's calls go there.
	Chats map[string]delivery.ID `yaml:"chats"`
	// ThreadID is the topic of a forum, in the chat for all. Unset: the general one.
	ThreadID int `yaml:"threadId"`
	// AllowedUserIDs may approve, besides the approvers. The list is read with
	// theirs; here it only says whom to write to.
	AllowedUserIDs []delivery.ID `yaml:"allowedUserIds"`
	// Timeout is of another program's config. Here approvalTtlSeconds says how
	// long a card may be answered.
	Timeout time.Duration `yaml:"timeout"`
	// APIURL is where the Bot API is. Unset: https://api.telegram.org.
	APIURL string `yaml:"apiUrl"`
}

const (
	defaultAPI  = "https://api.telegram.org"
	pollTimeout = 50 * time.Second
)

// Limits of sending: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
const (
	perSecond      = 1        // messages to a person
	perSecondGroup = 20. / 60 // messages to a group
	burst          = 20
	strangersBurst = 10
)

// tokenShape is long to compile, and most commands don't need it.
var tokenShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]{3,20}:[A-Za-z0-9_-]{20,100}$`)
})

// Channel is a bot in a chat. It is safe for concurrent use.
type Channel struct {
	*delivery.Chat

	config Config
	chat   int64
	chats  map[string]int64 // by agent
	token  string

	api       *bot.Bot     // sends; each poll has its own
	lastFault atomic.Value // a string: what was last wrong with polling; empty: nothing
}

var (
	_ approval.Channel = (*Channel)(nil)
	_ approval.Prober  = (*Channel)(nil)
)

// Open makes the channel. It does not call Telegram yet.
func Open(c Config, d delivery.Deps) (approval.Channel, error) {
	chat, err := c.check()
	if err != nil {
		return nil, fmt.Errorf("channels.telegram: %w", err)
	}
	chats, err := c.agentChats()
	if err != nil {
		return nil, fmt.Errorf("channels.telegram: %w", err)
	}
	ch := &Channel{config: c, chat: chat, chats: chats, token: c.BotToken}
	share := rate.Limit(perSecond)
	if slices.Min(ch.everyChat()) < 0 {
		share = perSecondGroup
	}
	ch.Chat = delivery.NewChat(Name, d, delivery.Options{Judge: judge, Rate: share, Burst: burst}, delivery.Options{Judge: judge, Rate: share / 6, Burst: strangersBurst})
	ch.api, err = ch.newBot()
	return ch, err
}

// check says what is missing, and which chat it is.
func (c *Config) check() (chat int64, err error) {
	if !tokenShape().MatchString(c.BotToken) {
		return 0, errors.New("botToken is missing or is no bot token: @BotFather gives one like 123456789:AAH…, put it into the environment or a file")
	}
	id := c.ChatID
	if id == "" && len(c.AllowedUserIDs) == 1 {
		id = c.AllowedUserIDs[0]
	}
	chat, err = strconv.ParseInt(string(id), 10, 64)
	if err != nil || chat == 0 {
		return 0, errors.New("chatId must be a number: write /start to the bot and it tells you yours; a group's is negative")
	}
	c.APIURL = cmp.Or(c.APIURL, defaultAPI)
	if u, err := url.Parse(c.APIURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return 0, errors.New("apiUrl is no address: write it as https://host, without the bot's token")
	}
	c.APIURL = strings.TrimSuffix(c.APIURL, "/")
	return chat, nil
}

func (c *Config) agentChats() (map[string]int64, error) {
	out := make(map[string]int64, len(c.Chats))
	for agent, id := range c.Chats {
		chat, err := strconv.ParseInt(string(id), 10, 64)
		if err != nil || chat == 0 {
			return nil, errors.New("chats must give each agent the number of a chat: write /start to the bot there and it tells you; a group's is negative")
		}
		out[strings.ToLower(agent)] = chat // ids are compared without case
	}
	return out, nil
}

// everyChat is the chat for all, and then those of single agents.
func (ch *Channel) everyChat() []int64 {
	return append([]int64{ch.chat}, slices.Sorted(maps.Values(ch.chats))...)
}

// Introduce says what the bot is called.
func (ch *Channel) Introduce(ctx context.Context) (name string, err error) {
	return name, ch.call(ctx, ch.Line, ch.chat, "getMe", func(ctx context.Context) error {
		me, err := ch.api.GetMe(ctx)
		if err == nil {
			name = "@" + me.Username
		}
		return err
	})
}

// Probe says who the bot is and whether it sees its chats, without writing to them.
func (ch *Channel) Probe(ctx context.Context) (string, error) {
	name, err := ch.Introduce(ctx)
	if err != nil {
		return "", err
	}
	who := name + " in chat"
	for i, chat := range ch.everyChat() {
		if i > 0 {
			who += ","
		}
		who += " " + strconv.FormatInt(chat, 10)
		err = errors.Join(err, ch.probe(ctx, name, chat))
	}
	return who, errors.Join(err, ch.Health())
}

func (ch *Channel) probe(ctx context.Context, name string, chat int64) error {
	err := ch.call(ctx, ch.Line, chat, "getChat", func(ctx context.Context) error {
		_, err := ch.api.GetChat(ctx, &bot.GetChatParams{ChatID: chat})
		return err
	})
	if errors.Is(err, bot.ErrorBadRequest) {
		err = fmt.Errorf("telegram: %s does not know the chat %d: press Start in the chat with it, or add it to the group, and see that chatId is right: %w", name, chat, err)
	}
	return err
}

// newBot makes a client. Its token never leaves it: errors are scrubbed.
func (ch *Channel) newBot(more ...bot.Option) (*bot.Bot, error) {
	options := append([]bot.Option{
		bot.WithServerURL(ch.config.APIURL), bot.WithSkipGetMe(), bot.WithHTTPClient(pollTimeout, &doer{ch}),
		bot.WithErrorsHandler(ch.pollFailed), bot.WithAllowedUpdates(allowedUpdates),
	}, more...)
	b, err := bot.New(ch.token, options...)
	return b, ch.clean("new", err)
}

// Platform says how Telegram names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Telegram", IsUser: isUser, Looks: "a positive number",
		Find: "it is the number of the account, which Telegram never changes; a name such as @ann can be taken over, and a negative number is a group",
		Setup: approval.Setup{
			Tokens: []approval.Token{{Key: "botToken", Find: "the token of a bot of its own: write /newbot to @BotFather in Telegram"}},
			Anyone: "1",
			Pair: func(who, code string) string {
				return fmt.Sprintf("On your phone, open https://t.me/%s?start=%s and press Start,\nor write to %[3]s: .pair %[2]s", strings.TrimPrefix(who, "@"), code, who)
			},
		},
	}
}

var plainNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// isUser knows that ids of Telegram have at most 52 bits.
func isUser(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n < 1<<52 && plainNumber.MatchString(id)
}
