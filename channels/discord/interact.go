package discord

import (
	"cmp"
	"context"

	"github.com/bwmarrin/discordgo"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
)

func personID(user string) string { return Name + ":" + user }

// Forms. The id of a form for a reason is the handle of the button that opened it:
// nothing has to be remembered.
const (
	lineForm  = "line" // the id of the button and of its form
	lineLabel = "Type the line"
	lineTitle = "Answer with a line"
	lineHint  = ".approve exec bf619df9 30"
	whyTitle  = "Deny and say why"
	whyLabel  = "The reason: the agent reads it"
)

func form(id, title, label, placeholder string) *discordgo.InteractionResponse {
	must := true
	return &discordgo.InteractionResponse{Type: discordgo.InteractionResponseModal, Data: &discordgo.InteractionResponseData{
		CustomID: id, Title: title, Components: []discordgo.MessageComponent{discordgo.Label{
			Label:     label,
			Component: discordgo.TextInput{CustomID: "text", Style: discordgo.TextInputShort, Placeholder: placeholder, Required: &must, MaxLength: maxInput},
		}},
	}}
}

// interaction takes a tap, or a form that was filled in. Who did it is the first
// thing that the desk looks at.
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
	switch d := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		a.Handle = d.CustomID
		if d.CustomID == lineForm {
			a.Handle, a.Text = "", ".help" // the desk says whether they may answer at all
		}
	case discordgo.ModalSubmitInteractionData:
		a.Handle, a.Reason = d.CustomID, typedIn(d.Components)
		if d.CustomID == lineForm {
			a.Handle, a.Reason, a.Text = "", "", a.Reason
		}
	}
	if a.Handle == "" && a.Text == "" {
		_ = r.say(ctx, nil)
		return
	}
	o, err := answer(ctx, a)
	if err != nil {
		ch.Log.Error("a tap could not be taken", "err", err)
	}
	ch.follow(ctx, r, a, o)
}

// typedIn is the text in the first field of a form.
func typedIn(components []discordgo.MessageComponent) string {
	for _, c := range components {
		switch c := c.(type) {
		case *discordgo.TextInput:
			return c.Value
		case *discordgo.Label:
			return typedIn([]discordgo.MessageComponent{c.Component})
		case *discordgo.ActionsRow:
			return typedIn(c.Components)
		}
	}
	return ""
}

// follow shows what came of a tap, to the person who tapped alone.
func (ch *Channel) follow(ctx context.Context, r *reply, a approval.Answer, o approval.Outcome) {
	if o.Kind == approval.Unauthorised {
		var done context.CancelFunc
		ctx, r.line, done = ch.ReplyLine(ctx, &o, ackAfter)
		defer done()
	}
	tapped := r.i.Type == discordgo.InteractionMessageComponent
	switch {
	case tapped && o.Kind == approval.WantsReason:
		r.open(ctx, func() *discordgo.InteractionResponse { return form(a.Handle, whyTitle, whyLabel, "") })
	case tapped && a.Text != "" && o.Kind == approval.Replied:
		r.open(ctx, func() *discordgo.InteractionResponse {
			return form(lineForm, lineTitle, "The line behind More", lineHint)
		})
	case o.Kind == approval.Shown:
		o.Delivered(ctx, r.say(ctx, ch.details(o.Card)))
	case o.Kind == approval.WantsPick:
		ch.askPick(ctx, r, &o)
	case o.Kind == approval.Ignored && o.Text == "":
		_ = r.say(ctx, &said{text: "This is no line that answers a card. Nothing was approved."})
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

// askPick asks the one who tapped what a call does, or asks again in the same place.
func (ch *Channel) askPick(ctx context.Context, r *reply, o *approval.Outcome) {
	d, _ := draw(channels.Picking(o.Card, o.Pick, ch.Now()))
	asks := &said{markup: d.text.String(), rows: d.rows}
	if o.Pick.Again && r.onDetails() {
		r.replace(ctx, asks)
		return
	}
	_ = r.say(ctx, asks)
}

// details are all there is of a card: a message where there is room for it, else
// a file. The buttons come with it.
func (ch *Channel) details(c *approval.Card) *said {
	doc := channels.Details(c, ch.Now()).LinkTo(ch.Page, c)
	d, fits := ch.card(doc)
	if fits {
		return &said{markup: d.text.String(), rows: d.rows}
	}
	doc.Buttons = channels.BesideFile(c, doc.Buttons)
	d, _ = ch.card(doc)
	return &said{markup: head(doc), rows: d.rows, file: func() *discordgo.File { return attachment(c, doc) }}
}
