package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// handle works on one update.
func (ch *Channel) handle(ctx context.Context, answer delivery.AnswerFunc, u *models.Update) {
	switch {
	case u.CallbackQuery != nil:
		ch.tap(ctx, answer, u.CallbackQuery)
	case u.Message != nil:
		ch.typed(ctx, answer, u.Message)
	}
}

func personID(id int64) string { return fmt.Sprintf("%s:%d", Name, id) }

// calledBy is what Telegram calls a user.
func calledBy(u *models.User) string {
	return cmp.Or(strings.TrimSpace(u.FirstName+" "+u.LastName), u.Username)
}

// tap takes a press of a button. Who pressed it is the first thing that the desk
// looks at.
func (ch *Channel) tap(ctx context.Context, answer delivery.AnswerFunc, q *models.CallbackQuery) {
	if q.From.IsBot || q.Data == "" {
		return
	}
	o, err := answer(ctx, approval.Answer{ID: personID(q.From.ID), Name: calledBy(&q.From), Via: Name, Handle: q.Data})
	if err != nil {
		ch.Log.Error("a tap could not be taken", "err", err)
	}
	ch.tellTapper(ctx, q, o)
	at, isView := placeOf(q)
	if at.message == 0 {
		o.Delivered(ctx, errNoPlace)
		return
	}
	switch {
	case o.Kind == approval.Shown:
		err = ch.details(ctx, o.Card, at)
		o.Delivered(ctx, err)
	case o.Kind == approval.TooLate && !isView && o.Card != nil: // it can wait, and must not keep other taps waiting
		ch.Tasks.Go("a tap could not be followed up", func(ctx context.Context) error {
			if err := ch.redraw(ctx, at, o.Card, o); !errors.Is(err, bot.ErrorBadRequest) { // else it is as it should be, or it is gone
				return err
			}
			return nil
		})
		return
	default:
		return
	}
	if err != nil && !errors.Is(err, bot.ErrorBadRequest) { // it is as it should be, or it is gone
		ch.Log.Warn("a tap could not be followed up", "err", err)
	}
}

var errNoPlace = errors.New("telegram: the tapped message is too old to be answered")

// tellTapper answers the person who tapped, and no one else sees it. What went well
// needs no window to be closed.
func (ch *Channel) tellTapper(ctx context.Context, q *models.CallbackQuery, o approval.Outcome) {
	text := o.Text
	if o.Kind == approval.Shown {
		text = ""
	}
	ctx, line, done := ch.ReplyLine(ctx, ch.Taps, &o, strangerPatience)
	defer done()
	err := line.Do(ctx, personID(q.From.ID), func(ctx context.Context) error {
		_, err := ch.api.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{
			CallbackQueryID: q.ID, Text: alert(text), ShowAlert: o.Kind != approval.Counted && text != "",
		})
		return ch.clean("answerCallbackQuery", err)
	})
	if err != nil && !errors.Is(err, bot.ErrorBadRequest) { // a tap from before a restart can't be answered any more
		ch.Log.Warn("a tap could not be answered", "err", err)
	}
}

// placeOf is the message that was tapped, and whether it is a view of details:
// those are replies to a card.
func placeOf(q *models.CallbackQuery) (at ref, isView bool) {
	if m := q.Message.Message; m != nil {
		return ref{m.Chat.ID, m.ID}, answered(m) != nil
	}
	return ref{}, false
}

// answered is the message that one is a reply to; nil if it is none. In a topic
// of a forum all that is written counts as a reply to what began the topic.
func answered(m *models.Message) *models.Message {
	if to := m.ReplyToMessage; to != nil && to.ForumTopicCreated == nil {
		return to
	}
	return nil
}

// typed takes a line that someone wrote to the bot.
func (ch *Channel) typed(ctx context.Context, answer delivery.AnswerFunc, m *models.Message) {
	if !ch.person(m) || m.Text == "" {
		return
	}
	if text := ch.start(m); text != "" {
		ch.reply(ctx, m, approval.Outcome{Kind: approval.Unauthorised, Text: text})
		return
	}
	a, ours := ch.read(m)
	if !ours {
		return
	}
	o, err := answer(ctx, a)
	if err != nil {
		ch.Log.Error("a line could not be taken", "err", err)
	}
	if o.Text != "" {
		ch.reply(ctx, m, o)
	}
}

// person reports whether a message was written by a person, in their own name
// and just now.
func (ch *Channel) person(m *models.Message) bool {
	return m.From != nil && !m.From.IsBot && m.ViaBot == nil && m.SenderBusinessBot == nil && m.SenderChat == nil && m.ForwardOrigin == nil && !m.IsAutomaticForward
}

// read makes an answer of a command that was written to the bot alone or in reply
// to it.
func (ch *Channel) read(m *models.Message) (approval.Answer, bool) {
	a := approval.Answer{ID: personID(m.From.ID), Name: calledBy(m.From), Via: Name}
	to := answered(m)
	toUs := to != nil && to.From != nil && to.From.ID == ch.api.ID()
	if !toUs && m.Chat.Type != models.ChatTypePrivate {
		return a, false
	}
	text := m.Text
	if code, ok := strings.CutPrefix(text, "/start "); ok { // by the link that `verifier setup` prints
		text = ".pair " + code
	}
	if _, err := codes.Parse(text); errors.Is(err, codes.ErrNotCommand) {
		return a, false
	}
	a.Sent = time.Unix(int64(m.Date), 0)
	a.Text, a.Message = text, fmt.Sprintf("%d/%d/%d", ch.api.ID(), m.Chat.ID, m.ID) // each bot counts the messages of a private chat anew
	return a, true
}

// start answers /start with the numbers that the config needs. They are no
// secret to the person who asks.
func (ch *Channel) start(m *models.Message) string {
	word, _, _ := strings.Cut(m.Text, "@")
	if strings.TrimSpace(word) != "/start" {
		return ""
	}
	return fmt.Sprintf("This bot asks for approvals.\nYour user id: %d\nThis chat's id: %d", m.From.ID, m.Chat.ID)
}

// strangerPatience is how long a reply to a person who may not approve may take.
const strangerPatience = time.Second

// reply answers a line.
func (ch *Channel) reply(ctx context.Context, m *models.Message, o approval.Outcome) {
	ctx, line, done := ch.ReplyLine(ctx, ch.Line, &o, strangerPatience)
	defer done()
	d := &drawing{}
	d.styled(models.MessageEntityTypePre, shorten(o.Text))
	if _, err := ch.write(ctx, line, message{chat: m.Chat.ID, replyTo: m.ID, drawing: d}); err != nil {
		ch.Log.Warn("a line could not be answered", "err", err)
	}
}

// shorten cuts a list that is longer than a message.
func shorten(s string) string {
	for units(s) > maxText {
		r := []rune(s)
		s = string(r[:len(r)*3/4]) + "…"
	}
	return s
}
