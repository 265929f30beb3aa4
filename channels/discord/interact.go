package discord

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

func personID(user string) string { return Name + ":" + user }

// interaction takes a tap. Who did it is the first thing that the desk looks at.
func (ch *Channel) interaction(ctx context.Context, answer delivery.AnswerFunc, i *discordgo.Interaction) {
	who := i.User
	if i.Member != nil && i.Member.User != nil {
		who = i.Member.User
	}
	r := ch.reply(ctx, i, who)
	defer r.done()
	if who == nil || who.Bot || who.System {
		_ = r.say(ctx, nil)
		return
	}
	a := approval.Answer{ID: personID(who.ID), Name: cmp.Or(who.GlobalName, who.Username), Via: Name}
	if d, isTap := i.Data.(discordgo.MessageComponentInteractionData); isTap {
		a.Handle = d.CustomID
	}
	if a.Handle == "" {
		_ = r.say(ctx, nil)
		return
	}
	o, err := answer(ctx, a)
	if err != nil {
		ch.Log.Error("a tap could not be taken", "err", err)
	}
	ch.follow(ctx, r, o)
}

// follow shows what came of a tap, to the person who tapped alone.
func (ch *Channel) follow(ctx context.Context, r *reply, o approval.Outcome) {
	var done context.CancelFunc
	ctx, r.line, done = ch.ReplyLine(ctx, ch.Taps, &o, ackAfter)
	defer done()
	switch {
	case o.Kind == approval.Shown:
		o.Delivered(ctx, r.say(ctx, ch.details(o.Card)))
	case r.onDetails() && (o.Kind == approval.Counted || o.Kind == approval.TooLate):
		r.replace(ctx, &said{text: o.Text})
	default:
		_ = r.say(ctx, &said{text: o.Text})
	}
	if at, inChat := r.place(); inChat && o.Kind == approval.TooLate && o.Card != nil {
		if err := ch.redraw(ctx, at, o.Card, o); err != nil {
			ch.Log.Warn("a card could not be brought up to date; its buttons answer with the truth", "err", err)
		}
	}
}

// details are all there is of a card: a message where there is room for it, else
// a file. The buttons come with it.
func (ch *Channel) details(c *approval.Card) *said {
	doc := channels.Details(c, ch.Now()).LinkTo(ch.Page, c)
	d, fits := draw(doc)
	if fits {
		return &said{markup: d.text.String(), rows: d.rows}
	}
	doc.Buttons = channels.BesideFile(c, doc.Buttons)
	d, _ = draw(doc)
	return &said{markup: head(doc), rows: d.rows, file: func() *discordgo.File { return attachment(c, doc) }}
}

// ackAfter is when a tap that has no answer yet is acknowledged. Discord waits
// for three seconds, and both ways count:
// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-callback
const ackAfter = 1500 * time.Millisecond

// said is a message to one person.
type said struct {
	text   string // shown literally
	markup string // instead of it
	rows   []discordgo.MessageComponent
	file   func() *discordgo.File // may be read once; may be nil
}

func (s *said) content() string { return cmp.Or(s.markup, sentence(s.text)) }

func (s *said) files() []*discordgo.File {
	if s.file == nil {
		return nil
	}
	return []*discordgo.File{s.file()}
}

// reply is the one answer to a tap. Where it takes too long, Discord learns that
// it will come, and then gets it as a change of that.
type reply struct {
	ch   *Channel
	i    *discordgo.Interaction
	line *delivery.Line
	who  string

	timer    *time.Timer
	mu       sync.Mutex
	deferred bool // Discord knows that the answer comes later
	answered bool
}

func (ch *Channel) reply(ctx context.Context, i *discordgo.Interaction, who *discordgo.User) *reply {
	r := &reply{ch: ch, i: i, line: ch.Taps}
	if who != nil {
		r.who = personID(who.ID)
	}
	r.timer = time.AfterFunc(ackAfter, func() { r.later(ctx) })
	return r
}

// done ends the wait for an answer.
func (r *reply) done() {
	r.timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = true
}

// later tells Discord that the answer will come.
func (r *reply) later(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered {
		return
	}
	err := r.respond(ctx, func() *discordgo.InteractionResponse {
		return &discordgo.InteractionResponse{
			Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
			Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
		}
	})
	r.deferred = err == nil
}

// say tells the person something that no one else sees; nil is nothing. The error is in the log already.
func (r *reply) say(ctx context.Context, s *said) error {
	return r.answer(ctx, s, func() *discordgo.InteractionResponse {
		if s == nil {
			return &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate}
		}
		return &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: s.data()}
	})
}

// replace puts something in the place of the message that was tapped: its buttons go, and those of what is said come.
func (r *reply) replace(ctx context.Context, s *said) {
	_ = r.answer(ctx, s, func() *discordgo.InteractionResponse {
		data := s.data()
		data.Attachments = &[]*discordgo.MessageAttachment{}
		if data.Components == nil {
			data.Components = []discordgo.MessageComponent{}
		}
		return &discordgo.InteractionResponse{Type: discordgo.InteractionResponseUpdateMessage, Data: data}
	})
}

func (s *said) data() *discordgo.InteractionResponseData {
	return &discordgo.InteractionResponseData{
		Content: s.content(), Components: s.rows, Files: s.files(), AllowedMentions: noMentions(),
		Flags: discordgo.MessageFlagsEphemeral | discordgo.MessageFlagsSuppressEmbeds,
	}
}

// answer gives the answer now, or s as what it has become meanwhile. The error is in the log already.
func (r *reply) answer(ctx context.Context, s *said, now func() *discordgo.InteractionResponse) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered {
		return nil
	}
	r.answered = true
	if !r.deferred {
		return r.respond(ctx, now)
	}
	return r.try(ctx, "answer a tap later", func(api *discordgo.Session, with discordgo.RequestOption) error {
		if s == nil {
			return api.InteractionResponseDelete(r.i, with)
		}
		content := s.content()
		_, err := api.InteractionResponseEdit(r.i, &discordgo.WebhookEdit{
			Content: &content, Components: &s.rows, Files: s.files(), AllowedMentions: noMentions(), Flags: discordgo.MessageFlagsSuppressEmbeds,
		}, with)
		return err
	})
}

func (r *reply) respond(ctx context.Context, with func() *discordgo.InteractionResponse) error {
	return r.try(ctx, "answer a tap", func(api *discordgo.Session, option discordgo.RequestOption) error {
		err := api.InteractionRespond(r.i, with(), option)
		if codeOf(err) == alreadyAnswered {
			return nil // by a try whose answer was lost
		}
		return err
	})
}

func (r *reply) try(ctx context.Context, what string, do func(*discordgo.Session, discordgo.RequestOption) error) error {
	err := r.ch.call(ctx, r.line, r.who, what, do)
	if err != nil {
		r.ch.Log.Warn("a tap could not be answered", "err", err)
	}
	return err
}

// onDetails reports whether what was tapped is a view that only this person has.
func (r *reply) onDetails() bool {
	return r.i.Message != nil && r.i.Message.Flags&discordgo.MessageFlagsEphemeral != 0
}

// place is the message that was tapped, if it is in the chat.
func (r *reply) place() (at place, inChat bool) {
	if r.i.Message == nil || r.onDetails() {
		return place{}, false
	}
	at = place{r.i.ChannelID, r.i.Message.ID}
	return at, idShape.MatchString(at.chat) && idShape.MatchString(at.message)
}
