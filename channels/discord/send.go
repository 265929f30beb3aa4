package discord

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"
	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Send shows a card. Where something is longer than the card, the whole follows
// as a file. While answers would not arrive, no card is shown.
func (ch *Channel) Send(ctx context.Context, c *approval.Card) (string, error) {
	if r := ch.refused.Load(); r != nil {
		return "", r
	}
	chat, err := ch.chat(ctx)
	if err != nil {
		return "", err
	}
	cut := false
	d := channels.Show(c, nil, ch.Now(), func(doc *channels.Document) (*drawing, bool) {
		cut = doc.Cut
		return draw(doc.LinkTo(ch.Page, c))
	})
	id, err := ch.post(ctx, ch.Line, message{chat: chat, text: d.text.String(), rows: d.rows})
	if err != nil {
		return "", err
	}
	at := place{chat, id}
	if cut {
		doc := channels.Details(c, ch.Now())
		ch.Tasks.Go("the whole of a card could not be attached; More shows it", func(ctx context.Context) error {
			_, err := ch.post(ctx, ch.Line, message{chat: chat, replyTo: id, text: head(doc), file: attachment(c, doc)})
			return err
		})
	}
	return at.String(), nil
}

// Settle shows the state of a card.
func (ch *Channel) Settle(ctx context.Context, at string, c *approval.Card, o approval.Outcome) error {
	p, err := parsePlace(at)
	if err != nil {
		return err
	}
	return ch.redraw(ctx, p, c, o)
}

func (ch *Channel) redraw(ctx context.Context, at place, c *approval.Card, o approval.Outcome) error {
	d := channels.Show(c, &o, ch.Now(), func(doc *channels.Document) (*drawing, bool) { return draw(doc.LinkTo(ch.Page, c)) })
	text := d.text.String()
	err := ch.call(ctx, ch.Line, "edits in "+at.chat, "edit a message", func(s *discordgo.Session, with discordgo.RequestOption) error {
		_, err := s.ChannelMessageEditComplex(&discordgo.MessageEdit{
			Channel: at.chat, ID: at.message, Content: &text, Components: &d.rows, AllowedMentions: noMentions(), Flags: discordgo.MessageFlagsSuppressEmbeds,
		}, with)
		return err
	})
	if codeOf(err) == unknownMessage {
		return nil // someone took it away, and its buttons with it
	}
	return err
}

// noMentions keeps a message from mentioning anyone, whatever it says.
func noMentions() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}

func attachment(c *approval.Card, doc *channels.Document) *discordgo.File {
	return &discordgo.File{Name: c.Ref() + ".txt", ContentType: "text/plain; charset=utf-8", Reader: strings.NewReader(channels.Whole(doc))}
}

// message is something to write.
type message struct {
	chat    string
	replyTo string
	text    string
	rows    []discordgo.MessageComponent
	file    *discordgo.File
}

// posted is a message as Discord takes it. The nonce makes a second try of the
// same message no second message:
// https://discord.com/developers/docs/resources/message#create-message
type posted struct {
	discordgo.MessageSend
	Nonce   string `json:"nonce"`
	Enforce bool   `json:"enforce_nonce"`
}

// post writes a message and returns its id.
func (ch *Channel) post(ctx context.Context, line *delivery.Line, m message) (id string, err error) {
	p := posted{Nonce: rand.Text()[:25], Enforce: true, MessageSend: discordgo.MessageSend{
		Content: m.text, Components: m.rows, AllowedMentions: noMentions(), Flags: discordgo.MessageFlagsSuppressEmbeds,
	}}
	if m.replyTo != "" {
		must := false
		p.Reference = &discordgo.MessageReference{MessageID: m.replyTo, FailIfNotExists: &must}
	}
	kind, body, err := encode(p, m.file)
	if err != nil {
		return "", err
	}
	err = ch.call(ctx, line, "messages to "+m.chat, "send a message", func(s *discordgo.Session, with discordgo.RequestOption) error {
		answer, err := s.RequestRaw(http.MethodPost, discordgo.EndpointChannelMessages(m.chat), kind, body, "", 0, with)
		if err != nil {
			return err
		}
		id, err = idIn(answer)
		return err
	})
	return id, err
}

func encode(p posted, file *discordgo.File) (kind string, body []byte, err error) {
	if file != nil {
		return discordgo.MultipartBodyWithJSON(p, []*discordgo.File{file})
	}
	body, err = discordgo.Marshal(p)
	return "application/json", body, err
}

// idIn reads the id of what was made.
func idIn(answer []byte) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &made); err != nil || !idShape.MatchString(made.ID) {
		return "", discordgo.ErrJSONUnmarshal
	}
	return made.ID, nil
}

// chat is where cards go.
func (ch *Channel) chat(ctx context.Context) (string, error) {
	if ch.config.ChannelID != "" {
		return string(ch.config.ChannelID), nil
	}
	if id := ch.direct.Load(); id != nil {
		return *id, nil
	}
	id, user := "", string(ch.config.UserID)
	err := ch.call(ctx, ch.Line, "person "+user, "open a direct message", func(s *discordgo.Session, with discordgo.RequestOption) error {
		c, err := s.UserChannelCreate(user, with)
		if err == nil {
			id = c.ID
		}
		return err
	})
	if err == nil && id != "" {
		ch.direct.Store(&id)
	}
	return id, err
}

// place is where a message is.
type place struct{ chat, message string }

// String is the place as the desk keeps it.
func (p place) String() string { return p.chat + "/" + p.message }

func parsePlace(s string) (place, error) {
	chat, message, _ := strings.Cut(s, "/")
	if !idShape.MatchString(chat) || !idShape.MatchString(message) {
		return place{}, fmt.Errorf("discord: %q is no place of a message", s)
	}
	return place{chat, message}, nil
}
