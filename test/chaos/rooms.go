package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// room is one of the chats: the fake of a platform, with the owner and a
// stranger of the same name in it.
type room interface {
	name() string
	cards(skip func(id string) bool) []card // what the bot has written to all that are there, or to the owner alone
	tap(ctx context.Context, owner bool, k *card, data string) error

	// Of the fakes themselves.
	URL() string
	Close()
	Break(f channeltest.Fault)
	Repeat(n int)
}

// Who is there.
const (
	telegramOwner = 1001
	slackOwner    = "U0OWNER"
	discordOwner  = "1001"
	stranger      = 666
)

const telegramToken = "7712345678:AAH-chaos_bot_token_for_the_fake_of_it"

var (
	slackKeys    = slacktest.Keys{BotToken: "xoxb-1111111111-2222222222-chaosSlackToken", AppToken: "xapp-1-A0VERIFIER-3333-chaosSlackToken"}
	discordToken = base64.RawURLEncoding.EncodeToString([]byte(discordtest.BotID)) + ".GaBcDe.chaos-bot-token-for-the-fake-of-it-01"
)

func openRooms() []room {
	return []room{
		telegramRoom{telegramtest.Open(telegramToken)},
		slackRoom{slacktest.Open(slackKeys)},
		discordRoom{discordtest.Open(discordToken)},
	}
}

var errFailed = errors.New("no answer to the tap in time")

type telegramRoom struct{ *telegramtest.Server }

func (telegramRoom) name() string { return "telegram" }

func (r telegramRoom) cards(skip func(id string) bool) (out []card) {
	for _, m := range r.Messages() {
		if skip(fmt.Sprint(m.ID)) {
			continue
		}
		k := newCard(r, fmt.Sprint(m.ID), m.Text)
		for _, row := range m.Buttons {
			for _, b := range row {
				k.data[b.Text] = b.Data
			}
		}
		out = append(out, k)
	}
	return out
}

func (r telegramRoom) tap(ctx context.Context, owner bool, k *card, data string) error {
	who := telegramtest.Person{ID: stranger, Name: "Owner"}
	if owner {
		who.ID = telegramOwner
	}
	id, err := strconv.ParseInt(k.id, 10, 64)
	if err != nil {
		return err
	}
	_, err = r.Tap(ctx, who, telegramOwner, id, data)
	return err
}

type slackRoom struct{ *slacktest.Server }

func (slackRoom) name() string { return "slack" }

func (r slackRoom) cards(skip func(id string) bool) (out []card) {
	for _, m := range r.Messages() {
		if m.Only != "" && m.Only != slackOwner || skip(m.TS) {
			continue
		}
		shown := m.Seen()
		k := newCard(r, m.TS, shown.Text)
		for _, b := range shown.Buttons {
			k.data[b.Label] = b.Data
		}
		out = append(out, k)
	}
	return out
}

func (r slackRoom) tap(ctx context.Context, owner bool, k *card, data string) error {
	who := slacktest.Person{ID: "U0OTHER", Name: "Owner"}
	if owner {
		who.ID = slackOwner
	}
	_, err := r.Tap(ctx, who, slacktest.DirectWith(slackOwner), k.id, data)
	return err
}

type discordRoom struct{ *discordtest.Server }

func (discordRoom) name() string { return "discord" }

func (r discordRoom) cards(skip func(id string) bool) (out []card) {
	for _, m := range r.Messages() {
		if m.Only != "" && m.Only != discordOwner || skip(m.ID) {
			continue
		}
		k := newCard(r, m.ID, discordtest.Render(m.Content).Text)
		for _, row := range m.Rows {
			for _, b := range row {
				k.data[b.Label] = b.CustomID
			}
		}
		out = append(out, k)
	}
	return out
}

func (r discordRoom) tap(ctx context.Context, owner bool, k *card, data string) error {
	who := discordtest.Person{ID: fmt.Sprint(stranger), Name: "Owner"}
	if owner {
		who.ID = discordOwner
	}
	told, err := r.Tap(ctx, who, discordtest.DirectID(discordOwner), k.id, data)
	if err == nil && told.Failed {
		return errFailed
	}
	return err
}
