// Package slack asks people in Slack: a card with buttons in a direct message or
// a channel, and lines such as `.approve exec bf619df9 30` in a direct message to
// the app or in the thread under one of its cards.
//
// What people do comes over Socket Mode, where Slack hands each thing to one of
// the connected instances. It is acknowledged at once and worked on afterwards. Nothing that the agent wrote is formatted: it is in
// rich text, whose elements have types and no markup, so it can neither link,
// mention nor break out.
//
// The channel decides nothing. It refuses to hear bots, apps that write in a
// person's name and members of other workspaces, and to put a token into an error.
package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Name is the channel's name: the section of the config, and what the ids of its
// people begin with.
const Name = "slack"

// Config is the section channels.slack.
type Config struct {
	// Enabled is looked at before the rest is: what is off is not opened.
	Enabled bool `yaml:"enabled"`
	// BotToken is what the app writes with: xoxb-….
	BotToken string `yaml:"botToken"`
	// AppToken is what Socket Mode is opened with: xapp-….
	AppToken string `yaml:"appToken"`
	// ChannelID is where cards go: a channel's id, or a member's for a direct
	// message. Unset: the one person in AllowedUserIDs.
	ChannelID delivery.ID `yaml:"channelId"`
	// AllowedUserIDs may approve, besides the approvers. The list is read with
	// theirs; here it only says whom to write to.
	AllowedUserIDs []delivery.ID `yaml:"allowedUserIds"`
	// APIURL is where the Web API is. Unset: https://slack.com/api.
	APIURL string `yaml:"apiUrl"`
}

const (
	defaultAPI  = "https://slack.com/api"
	httpTimeout = 15 * time.Second
)

// Limits of sending: https://docs.slack.dev/apis/web-api/rate-limits
const (
	perSecond = 1 // messages to a channel
	burst     = 20
	// What strangers get is less: they must not use up anyone's share.
	perSecondStranger = 1. / 6
	burstStranger     = 5
)

// The shapes of secrets are long to compile, and most commands need none of them.
var (
	botTokenShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^xoxb-[A-Za-z0-9-]{10,200}$`) })
	appTokenShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^xapp-[A-Za-z0-9-]{10,250}$`) })
	chatShape     = regexp.MustCompile(`^[CDGUW][A-Z0-9]{2,20}$`)
)

// Channel is an app in a workspace. It is safe for concurrent use.
type Channel struct {
	*delivery.Chat

	config Config
	chat   string

	api  *slack.Client
	self atomic.Pointer[slack.AuthTestResponse] // who the app is; nil until Slack has said so
	seen seen
}

var (
	_ approval.Channel = (*Channel)(nil)
	_ approval.Prober  = (*Channel)(nil)
)

// Open makes the channel. It does not call Slack yet.
func Open(c Config, d delivery.Deps) (approval.Channel, error) {
	chat, err := c.check()
	if err != nil {
		return nil, fmt.Errorf("channels.slack: %w", err)
	}
	ch := &Channel{config: c, chat: chat, Chat: delivery.NewChat(Name, d,
		delivery.Options{Judge: judge, Rate: perSecond, Burst: burst}, delivery.Options{Judge: judge, Rate: perSecondStranger, Burst: burstStranger})}
	ch.HTTP.Timeout = httpTimeout
	ch.api = slack.New(c.BotToken, slack.OptionAPIURL(c.APIURL), slack.OptionAppLevelToken(c.AppToken), slack.OptionHTTPClient(&doer{ch.HTTP}))
	return ch, nil
}

// check says what is missing, and which chat it is.
func (c *Config) check() (chat string, err error) {
	if err := c.checkTokens(); err != nil {
		return "", err
	}
	id := c.ChannelID
	if id == "" && len(c.AllowedUserIDs) == 1 {
		id = c.AllowedUserIDs[0]
	}
	if !chatShape.MatchString(string(id)) {
		return "", errors.New("channelId must be the id of a channel (C…, at the end of its About tab) or of a member for a direct message (U…, Copy member ID in the profile); a name can be taken over")
	}
	c.APIURL = cmp.Or(c.APIURL, defaultAPI)
	if u, err := url.Parse(c.APIURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("apiUrl is no address: write it as https://slack.com/api")
	}
	c.APIURL = strings.TrimSuffix(c.APIURL, "/") + "/"
	return string(id), nil
}

// checkTokens also finds tokens that are in each other's place.
func (c *Config) checkTokens() error {
	switch {
	case strings.HasPrefix(c.BotToken, "xapp-"):
		return errors.New("botToken is an app-level token: that one is the appToken, and the bot token begins with xoxb-")
	case strings.HasPrefix(c.BotToken, "xoxe"):
		return errors.New("botToken expires, because token rotation is on for the app: a bot token that does not begins with xoxb-")
	case strings.HasPrefix(c.BotToken, "xoxp-"):
		return errors.New("botToken is a person's token: take the Bot User OAuth Token, which begins with xoxb-")
	case !botTokenShape().MatchString(c.BotToken):
		return errors.New("botToken is missing or is no bot token: copy the Bot User OAuth Token under OAuth & Permissions, which begins with xoxb-, into the environment or a file")
	case strings.HasPrefix(c.AppToken, "xoxb-"):
		return errors.New("appToken is a bot token: that one is the botToken, and the app-level token begins with xapp-")
	case !appTokenShape().MatchString(c.AppToken):
		return errors.New("appToken is missing or is no app-level token: make one under Basic Information, App-Level Tokens, with the scope connections:write; it begins with xapp-")
	}
	return nil
}

// Probe says who the app is, and tries the token that it listens with.
func (ch *Channel) Probe(ctx context.Context) (who string, err error) {
	if who, err = ch.Introduce(ctx); err != nil {
		return "", err
	}
	return who + ", writing to " + ch.chat, nil
}

// Introduce says what the app is called, if its tokens are good.
func (ch *Channel) Introduce(ctx context.Context) (who string, err error) {
	self, err := ch.introduce(ctx)
	if err != nil {
		return "", err
	}
	_, address, err := ch.api.StartSocketModeContext(ctx)
	if err == nil && address == "" {
		err = errNoAnswer
	}
	if err != nil {
		return "", ch.clean(connectMethod, err)
	}
	return fmt.Sprintf("@%s of %s", self.User, self.Team), nil
}

// introduce asks Slack who the app is.
func (ch *Channel) introduce(ctx context.Context) (*slack.AuthTestResponse, error) {
	self, err := ch.api.AuthTestContext(ctx)
	if err == nil && (self.UserID == "" || self.TeamID == "") {
		err = errNoAnswer
	}
	if err != nil {
		return nil, ch.clean("auth.test", err)
	}
	ch.self.Store(self)
	return self, nil
}

// Platform says how Slack names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Slack", IsUser: memberID.MatchString, Looks: "a U or a W and capital letters and digits, such as U024BE7LH; with the workspace in front if it is not the app's own, such as T0SISTER/U024BE7LH",
		Find: "choose Copy member ID in the person's Slack profile; a name can be taken over",
		Setup: approval.Setup{
			Tokens: []approval.Token{
				{Key: "botToken", Find: "the bot's token, xoxb-…: in the app's settings, OAuth & Permissions"},
				{Key: "appToken", Find: "the token for Socket Mode, xapp-…: in the app's settings, Basic Information, App-Level Tokens, with connections:write"},
			},
			Anyone: "U00",
			Pair: func(who, code string) string {
				return fmt.Sprintf("In Slack, choose %s under Apps and write to it: .pair %s", who, code)
			},
		},
	}
}

var memberID = regexp.MustCompile(`^([TE][A-Z0-9]{2,20}/)?[UW][A-Z0-9]{2,20}$`)
