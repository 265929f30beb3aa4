package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// askAgain is when Discord is asked whether it still says no: the owner may have
// fixed the cause in the portal.
const askAgain = 30 * time.Minute

// refusal is a no of Discord's that trying again does not change.
type refusal struct{ text string }

func (r *refusal) Error() string { return Name + ": " + r.text }

// Listen passes on what people answer until ctx ends. It comes back by itself,
// unless Discord has said no: then it says so and stays away for long.
func (ch *Channel) Listen(ctx context.Context, answer delivery.AnswerFunc) error {
	defer ch.Listener.Listen(ctx, answer)()
	delivery.Keep(ctx, ch.Log, ch.Faults, func(ctx context.Context) error {
		err := ch.connect(ctx)
		if no, ok := errors.AsType[*refusal](err); ok {
			ch.Log.Error("Discord refuses, so you can't answer there; a restart tries again at once", "err", no, "next_try", askAgain)
			ch.refused.Store(no)
			ch.Faults.Note("listening", no)
			delivery.Sleep(ctx, askAgain)
		}
		return err
	})
	return nil
}

// heard notes that answers come.
func (ch *Channel) heard() {
	ch.refused.Store(nil)
	ch.Faults.Note("listening", nil)
}

// application is what Discord knows of the application.
type application struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Endpoint string `json:"interactions_endpoint_url"`
}

func (ch *Channel) application(ctx context.Context) (*application, error) {
	var app application
	err := ch.call(ctx, ch.Taps, "application", "look at the application", func(s *discordgo.Session, with discordgo.RequestOption) error {
		answer, err := s.RequestWithBucketID(http.MethodGet, discordgo.EndpointApplications+"/@me", nil, "", with)
		if err != nil {
			return err
		}
		if json.Unmarshal(answer, &app) != nil {
			return discordgo.ErrJSONUnmarshal
		}
		return nil
	})
	switch statusOf(err) {
	case http.StatusUnauthorized:
		return nil, &refusal{wrongToken}
	case http.StatusNotFound:
		return &app, nil // a proxy in front of Discord does not pass it on
	}
	return &app, err
}

// typed takes a line that someone wrote to the bot alone, or in reply to it.
func (ch *Channel) typed(ctx context.Context, answer delivery.AnswerFunc, m *discordgo.Message) {
	if _, err := codes.Parse(m.Content); errors.Is(err, codes.ErrNotCommand) {
		return
	}
	o, err := answer(ctx, approval.Answer{
		ID: personID(m.Author.ID), Name: cmp.Or(m.Author.GlobalName, m.Author.Username), Via: Name, Text: m.Content,
		Message: m.ID, Sent: m.Timestamp,
	})
	if err != nil {
		ch.Log.Error("a line could not be taken", "err", err)
	}
	if o.Text == "" {
		return
	}
	ctx, line, done := ch.ReplyLine(ctx, ch.Line, &o, ackAfter)
	defer done()
	if _, err := ch.post(ctx, line, message{chat: m.ChannelID, replyTo: m.ID, text: sentence(o.Text)}); err != nil {
		ch.Log.Warn("a line could not be answered", "err", err)
	}
}

// person reports whether a message was written by a person, just now and in
// their own words.
func person(m *discordgo.Message) bool {
	written := m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply
	forwarded := len(m.MessageSnapshots) > 0 || m.MessageReference != nil && m.MessageReference.Type == discordgo.MessageReferenceTypeForward
	return written && !forwarded && m.Author != nil && !m.Author.Bot && !m.Author.System && m.WebhookID == "" && m.Content != ""
}

// toUs reports whether a message is for the bot: a direct message, or a reply to
// one of its own.
func (ch *Channel) toUs(m *discordgo.Message) bool {
	if m.GuildID == "" {
		return true
	}
	to := m.ReferencedMessage
	return to != nil && to.Author != nil && to.Author.ID == ch.self
}

// elsewhere says that taps go to an address, where we listen at the gateway.
func elsewhere(app *application) error {
	if app.Endpoint == "" {
		return nil
	}
	return &refusal{fmt.Sprintf("taps go to the Interactions Endpoint URL of the application %q, not to the gateway: clear that field in the Developer Portal", app.Name)}
}

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
	if err := elsewhere(app); err != nil {
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
