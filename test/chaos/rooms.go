package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// room is one of the chats: the fake of a platform, with the owner and a stranger of the same name in it.
type room struct {
	fake
	name string
	// cards gives what the bot has written to all that are there, or to the owner alone.
	cards func(skip func(id string) bool) []card
	tap   func(ctx context.Context, owner bool, id, data string) error
}

type fake interface {
	URL() string
	Close()
	Break(f channeltest.Fault)
	Repeat(n int)
}

// Who is there. The stranger has the owner's name.
const (
	telegramOwner = 1001
	slackOwner    = "U0OWNER"
	discordOwner  = "1001"
	stranger      = 666
)

const telegramToken = "7712345678:AAH-chaos_bot_token_for_the_fake_of_it"

var (
	slackKeys = slacktest.Keys{
		BotToken: "xoxb-1111111111-2222222222-chaosSlackToken", AppToken: "xapp-1-A0VERIFIER-3333-chaosSlackToken",
	}
	discordToken = base64.RawURLEncoding.EncodeToString([]byte(discordtest.BotID)) +
		".GaBcDe.chaos-bot-token-for-the-fake-of-it-01"
)

func openRooms() []*room {
	return []*room{telegramRoom(telegramtest.Open(telegramToken)), slackRoom(slacktest.Open(slackKeys)),
		discordRoom(discordtest.Open(discordToken))}
}

func telegramRoom(s *telegramtest.Server) *room {
	return &room{fake: s, name: "telegram", cards: func(skip func(id string) bool) (out []card) {
		for _, m := range s.Messages() {
			if id := fmt.Sprint(m.ID); !skip(id) {
				k := newCard(id, m.Text)
				for _, b := range slices.Concat(m.Buttons...) {
					k.data[b.Text] = b.Data
				}
				out = append(out, k)
			}
		}
		return out
	}, tap: func(ctx context.Context, owner bool, id, data string) error {
		who := telegramtest.Person{ID: stranger, Name: "Owner"}
		if owner {
			who.ID = telegramOwner
		}
		message, _ := strconv.ParseInt(id, 10, 64)
		_, err := s.Tap(ctx, who, telegramOwner, message, data)
		return err
	}}
}

func slackRoom(s *slacktest.Server) *room {
	return &room{fake: s, name: "slack", cards: func(skip func(id string) bool) (out []card) {
		for _, m := range s.Messages() {
			if (m.Only == "" || m.Only == slackOwner) && !skip(m.TS) {
				shown := m.Seen()
				k := newCard(m.TS, shown.Text)
				for _, b := range shown.Buttons {
					k.data[b.Label] = b.Data
				}
				out = append(out, k)
			}
		}
		return out
	}, tap: func(ctx context.Context, owner bool, id, data string) error {
		who := slacktest.Person{ID: "U0OTHER", Name: "Owner"}
		if owner {
			who.ID = slackOwner
		}
		_, err := s.Tap(ctx, who, slacktest.DirectWith(slackOwner), id, data)
		return err
	}}
}

func discordRoom(s *discordtest.Server) *room {
	return &room{fake: s, name: "discord", cards: func(skip func(id string) bool) (out []card) {
		for _, m := range s.Messages() {
			if (m.Only == "" || m.Only == discordOwner) && !skip(m.ID) {
				k := newCard(m.ID, discordtest.Render(m.Content).Text)
				for _, b := range slices.Concat(m.Rows...) {
					k.data[b.Label] = b.CustomID
				}
				out = append(out, k)
			}
		}
		return out
	}, tap: func(ctx context.Context, owner bool, id, data string) error {
		who := discordtest.Person{ID: fmt.Sprint(stranger), Name: "Owner"}
		if owner {
			who.ID = discordOwner
		}
		told, err := s.Tap(ctx, who, discordtest.DirectID(discordOwner), id, data)
		if err == nil && told.Failed {
			err = errors.New("no answer to the tap in time")
		}
		return err
	}}
}
