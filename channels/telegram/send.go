package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Send shows a card. Where something is longer than the card, the whole follows
// as a file.
func (ch *Channel) Send(ctx context.Context, c *approval.Card) (string, error) {
	cut := false
	d := channels.Show(c, nil, ch.Now(), func(doc *channels.Document) (*drawing, bool) {
		cut = doc.Cut
		return draw(doc.LinkTo(ch.Page, c))
	})
	at := ref{chat: ch.chatOf(c)}
	id, err := ch.write(ctx, ch.Line, message{chat: at.chat, drawing: d})
	if err != nil {
		return "", err
	}
	at.message = id
	if cut {
		ch.Tasks.Go("the whole of a card could not be attached; More shows it", func(ctx context.Context) error {
			return ch.attach(ctx, c, at, nil)
		})
	}
	return at.String(), nil
}

// chatOf is where a card goes: the chat of its agent, or the chat for all, as for a notice that asks nothing.
func (ch *Channel) chatOf(c *approval.Card) int64 {
	return cmp.Or(ch.chats[strings.ToLower(c.Ask.Agent)], ch.chat)
}

// topic is the topic to write to in a chat.
func (ch *Channel) topic(chat int64) int {
	if chat != ch.chat {
		return 0
	}
	return ch.config.ThreadID
}

// Settle shows the state of a card. The buttons of its details stay, and answer with
// the truth.
func (ch *Channel) Settle(ctx context.Context, at string, c *approval.Card, o approval.Outcome) error {
	r, err := parseRef(at)
	if err != nil {
		return err
	}
	return ch.redraw(ctx, r, c, o)
}

// redraw shows the state of a card. Telegram refuses a text that is there
// already, one on a message that is gone, and one that it does not take: with the
// last, the buttons go all the same.
func (ch *Channel) redraw(ctx context.Context, r ref, c *approval.Card, o approval.Outcome) error {
	d := channels.Show(c, &o, ch.Now(), func(doc *channels.Document) (*drawing, bool) { return draw(doc.LinkTo(ch.Page, c)) })
	refused, err := ch.rewrite(ctx, ch.Line.Later, r, d)
	if err == nil && refused != nil && d.unlink() { // Telegram takes no link to some hosts
		refused, err = ch.rewrite(ctx, ch.Line.Later, r, d)
	}
	if err != nil || refused == nil || d.markup() != nil {
		return cmp.Or(err, refused)
	}
	if done, err := ch.disarm(ctx, r); err != nil || done {
		return cmp.Or(err, refused)
	}
	return nil
}

// rewrite puts another text and other buttons into a message.
func (ch *Channel) rewrite(ctx context.Context, carry carryFunc, r ref, d *drawing) (refused, err error) {
	return ch.edit(ctx, carry, r, "editMessageText", func(ctx context.Context) error {
		_, err := ch.api.EditMessageText(ctx, &bot.EditMessageTextParams{
			ChatID: r.chat, MessageID: r.message, Text: d.text.String(), Entities: d.entities, ReplyMarkup: d.markup(), LinkPreviewOptions: noPreview,
		})
		return err
	})
}

// disarm takes the buttons off a message. It reports false where there are none,
// or no such message.
func (ch *Channel) disarm(ctx context.Context, r ref) (done bool, err error) {
	refused, err := ch.edit(ctx, ch.Line.Later, r, "editMessageReplyMarkup", func(ctx context.Context) error {
		_, err := ch.api.EditMessageReplyMarkup(ctx, &bot.EditMessageReplyMarkupParams{ChatID: r.chat, MessageID: r.message})
		return err
	})
	return err == nil && refused == nil, err
}

// edit changes a message. That Telegram refuses the change says nothing of how
// Telegram does.
func (ch *Channel) edit(ctx context.Context, carry carryFunc, r ref, method string, do func(context.Context) error) (refused, err error) {
	err = carry(ctx, fmt.Sprint(r.chat), func(ctx context.Context) error {
		err := ch.clean(method, do(ctx))
		if refused = nil; errors.Is(err, bot.ErrorBadRequest) {
			refused = err
			return nil
		}
		return err
	})
	return refused, err
}

// carryFunc makes a call when the chat it is about may be called.
type carryFunc func(ctx context.Context, about string, call func(context.Context) error) error

// details shows all there is of a card, in reply to it: as a message where there
// is room for it, else as a file. The buttons come with it.
func (ch *Channel) details(ctx context.Context, c *approval.Card, under ref) error {
	doc := channels.Details(c, ch.Now()).LinkTo(ch.Page, c)
	d, fits := draw(doc)
	if !fits {
		return ch.attach(ctx, c, under, channels.BesideFile(c, doc.Buttons))
	}
	_, err := ch.write(ctx, ch.Line, message{chat: under.chat, replyTo: under.message, drawing: d})
	return err
}

// attach sends all there is of a card as a file, in reply to it.
func (ch *Channel) attach(ctx context.Context, c *approval.Card, under ref, buttons []channels.Button) error {
	doc := channels.Details(c, ch.Now())
	whole, caption := channels.Whole(doc), &drawing{keyboard: keyboard(buttons)}
	caption.head(doc)
	return ch.show(ctx, ch.Line, under.chat, "sendDocument", func(ctx context.Context) error {
		_, err := ch.api.SendDocument(ctx, &bot.SendDocumentParams{
			ChatID: under.chat, MessageThreadID: ch.topic(under.chat), ReplyParameters: inReplyTo(under.message),
			Document: &models.InputFileUpload{Filename: c.Ref() + ".txt", Data: strings.NewReader(whole)},
			Caption:  caption.text.String(), CaptionEntities: caption.entities, ReplyMarkup: caption.markup(), DisableContentTypeDetection: true,
		})
		return err
	})
}

// message is something to write.
type message struct {
	*drawing
	chat    int64
	replyTo int
}

var noPreview = &models.LinkPreviewOptions{IsDisabled: bot.True()}

func inReplyTo(id int) *models.ReplyParameters {
	if id == 0 {
		return nil
	}
	return &models.ReplyParameters{MessageID: id, AllowSendingWithoutReply: true}
}

// write sends a message and returns its id.
func (ch *Channel) write(ctx context.Context, line *delivery.Line, m message) (id int, err error) {
	p := &bot.SendMessageParams{
		ChatID: m.chat, Text: m.text.String(), Entities: m.entities, ReplyMarkup: m.markup(), LinkPreviewOptions: noPreview, ReplyParameters: inReplyTo(m.replyTo),
		MessageThreadID: ch.topic(m.chat),
	}
	err = ch.show(ctx, line, m.chat, "sendMessage", func(ctx context.Context) error {
		sent, err := ch.api.SendMessage(ctx, p)
		if errors.Is(err, bot.ErrorBadRequest) && m.unlink() { // Telegram takes no link to some hosts, and the card matters more
			p.ReplyMarkup = m.markup()
			sent, err = ch.api.SendMessage(ctx, p)
		}
		if err == nil {
			id = sent.ID
		}
		return err
	})
	return id, err
}

// ref is where a message is.
type ref struct {
	chat    int64
	message int
}

// String is the ref as the desk keeps it.
func (r ref) String() string { return fmt.Sprintf("%d/%d", r.chat, r.message) }

func parseRef(s string) (ref, error) {
	chat, message, _ := strings.Cut(s, "/")
	c, errChat := strconv.ParseInt(chat, 10, 64)
	m, err := strconv.Atoi(message)
	if errChat != nil || err != nil {
		return ref{}, fmt.Errorf("telegram: %q is no place of a message", s)
	}
	return ref{c, m}, nil
}
