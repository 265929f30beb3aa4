// Package discord asks people on Discord: a card with buttons in a direct
// message or a channel, and lines such as `.approve exec bf619df9 30` in a direct
// message or in reply to the bot.
//
// Taps and lines come through Discord's gateway, under a lease so that replicas
// don't answer twice. What only one person should read is shown to that person
// alone. Discord knows markup only, no text with marks
// beside it: foreign text therefore is in code, where nothing formats, links
// or mentions, and no message may mention anyone at all. Cards are plain
// content, not embeds: people can switch embeds off, and would see buttons
// without what they are about.
//
// The library is used for calls and types. Its gateway client is not: it can't
// be cancelled, never looks at why Discord hung up, and locks itself out when a
// session can't be resumed.
//
// The channel decides nothing. It refuses to hear bots and webhooks, to
// knock again where Discord has said no, and to put a token into an error.
package discord

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Name is the channel's name: the section of the config, and what the ids of its
// people begin with.
const Name = "discord"

// Config is the section channels.discord.
type Config struct {
	// Enabled is looked at before the rest is: what is off is not opened.
	Enabled bool `yaml:"enabled"`
	// BotToken is what the Developer Portal shows once under Bot.
	BotToken string `yaml:"botToken"`
	// ChannelID is where cards go. Unset: to UserID alone.
	ChannelID delivery.ID `yaml:"channelId"`
	// UserID is who gets the cards as direct messages, where there is no channel.
	// Unset: the one person in AllowedUserIDs.
	UserID delivery.ID `yaml:"userId"`
	// AllowedUserIDs may approve, besides the approvers. The list is read with
	// theirs; here it only says whom to write to.
	AllowedUserIDs []delivery.ID `yaml:"allowedUserIds"`
	// APIURL is where the API is. Unset: https://discord.com.
	APIURL string `yaml:"apiUrl"`
}

const defaultAPI = "https://discord.com"

// Shares of sending. Discord tells its limits with each answer; five messages in
// five seconds is what a channel takes:
// https://discord.com/developers/docs/topics/rate-limits
const (
	perSecond      = 1
	burst          = 5
	strangersShare = 1. / 6 // of what is sent to people who may not approve
)

// The shapes of secrets are long to compile, and most commands need none of them.
var (
	tokenShape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z0-9_-]{16,40})\.[A-Za-z0-9_-]{4,20}\.[A-Za-z0-9_-]{20,120}$`)
	})
	idShape = regexp.MustCompile(`^[1-9][0-9]{0,19}$`)
)

// Channel is a bot in a channel or a direct message. It is safe for concurrent
// use.
type Channel struct {
	*delivery.Chat

	config  Config
	address *url.URL // of the API
	token   string
	self    string // the bot's user id

	direct  atomic.Pointer[string]  // the id of the channel for direct messages, once it is known: it stays the same
	session session                 // of the gateway; belongs to the connection
	refused atomic.Pointer[refusal] // why Discord does not let us listen; nil: it does
}

var _ approval.Channel = (*Channel)(nil)

// Open makes the channel. It does not call Discord yet.
func Open(c Config, d delivery.Deps) (approval.Channel, error) {
	ch := &Channel{Chat: delivery.NewChat(Name, d,
		delivery.Options{Judge: judge, Rate: perSecond, Burst: burst}, delivery.Options{Judge: judge, Rate: perSecond * strangersShare, Burst: burst})}
	if err := ch.configure(c); err != nil {
		return nil, fmt.Errorf("channels.discord: %w", err)
	}
	ch.HTTP.Transport = &transport{ch.address, ch.HTTP.Transport}
	return ch, nil
}

// configure checks a config and takes it, or says what is missing.
func (ch *Channel) configure(c Config) (err error) {
	ch.token = strings.TrimPrefix(c.BotToken, "Bot ")
	if ch.self, err = botOf(ch.token); err != nil {
		return err
	}
	if c.UserID == "" && len(c.AllowedUserIDs) == 1 {
		c.UserID = c.AllowedUserIDs[0]
	}
	switch {
	case c.ChannelID != "" && !idShape.MatchString(string(c.ChannelID)):
		return errors.New("channelId must be a channel's id, which is a number: switch on Developer Mode in Discord and choose Copy Channel ID")
	case c.ChannelID == "" && !idShape.MatchString(string(c.UserID)):
		return errors.New("say where cards go: set channelId, or userId for direct messages; both are numbers that Discord copies in Developer Mode")
	}
	c.APIURL = cmp.Or(c.APIURL, defaultAPI)
	ch.address, err = url.Parse(strings.TrimSuffix(c.APIURL, "/"))
	if u := ch.address; err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("apiUrl is no address: write it as https://host, without a token")
	}
	ch.config = c
	return nil
}

// botOf is the user id in a bot's token.
func botOf(token string) (string, error) {
	if m := tokenShape().FindStringSubmatch(token); m != nil {
		id, err := base64.RawURLEncoding.DecodeString(m[1])
		if err == nil && idShape.Match(id) {
			return string(id), nil
		}
	}
	return "", errors.New("botToken is missing or is no bot token: the Developer Portal shows it once under Bot, Reset Token (not the client secret, not the public key); put it into the environment or a file")
}

// Platform says how Discord names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Discord", IsUser: isUser, Looks: "a number of up to 20 digits",
		Find: "switch on Developer Mode in Discord and choose Copy User ID; a name can be taken over",
		Setup: approval.Setup{
			Tokens: []approval.Token{{Key: "botToken", Find: "the token of a bot of its own: in the Developer Portal, Bot, Reset Token"}},
			Anyone: "1",
			Pair: func(who, code string) string {
				return fmt.Sprintf("In Discord, write a direct message to %s: .pair %s\nIf you don't see the bot, add it to a server of yours first: in the Developer Portal, Installation.", who, code)
			},
		},
	}
}

// isUser knows that ids of Discord have 64 bits.
func isUser(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil && idShape.MatchString(id)
}
