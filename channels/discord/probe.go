package discord

import (
	"context"
	"errors"
	"fmt"

	"github.com/bwmarrin/discordgo"

	"github.com/openclaw-verifier/verifier/approval"
)

var _ approval.Prober = (*Channel)(nil)

// Introduce says what the bot is called, if answers would come here.
func (ch *Channel) Introduce(ctx context.Context) (who string, err error) {
	if r := ch.refused.Load(); r != nil {
		return "", r
	}
	app, err := ch.application(ctx)
	if err != nil {
		return "", err
	}
	if err := ch.reached(app); err != nil {
		return "", err
	}
	var me *discordgo.User
	err = ch.call(ctx, ch.Line, "ourselves", "ask who the bot is", func(s *discordgo.Session, with discordgo.RequestOption) (err error) {
		me, err = s.User("@me", with)
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+q", me.Username), nil
}

// Probe asks Discord who the bot is, whether it reaches the place where cards go,
// and whether answers would come here. It shows nothing to anyone.
func (ch *Channel) Probe(ctx context.Context) (string, error) {
	who, err := ch.Introduce(ctx)
	if err != nil {
		return "", err
	}
	where, err := ch.look(ctx)
	return who + " in " + where, err
}

// look says where cards go, if the bot can see it.
func (ch *Channel) look(ctx context.Context) (string, error) {
	id := string(ch.config.ChannelID)
	if id == "" {
		_, err := ch.chat(ctx)
		return "direct messages to " + string(ch.config.UserID), err
	}
	err := ch.call(ctx, ch.Line, "channel "+id, "look at the channel", func(s *discordgo.Session, with discordgo.RequestOption) error {
		_, err := s.Channel(id, with)
		return err
	})
	return "channel " + id, err
}

// reached says why taps would not come here, if they would not.
func (ch *Channel) reached(app *application) error {
	if ch.key == nil {
		return elsewhere(app)
	}
	if err := ch.ours(app); err != nil {
		return err
	}
	if app.Endpoint == "" {
		return errors.New("discord: " + noEndpoint)
	}
	return nil
}
