package slack

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// handle works on one thing that someone did.
func (ch *Channel) handle(ctx context.Context, answer delivery.AnswerFunc, p payload) {
	switch i, n := p.interaction, p.notification; {
	case n != nil && n.Type == eventCallback:
		ch.typed(ctx, answer, &n.Event)
	case i != nil && i.handle() != "":
		ch.tap(ctx, answer, i)
	}
}

// personID is who someone is to the desk. Slack promises ids that are unique
// within a workspace, so a member of another one, who may be in a shared channel,
// is someone else: T0OTHER/U024BE7LH. That is so in a company with several
// workspaces as well, since nothing in what Slack sends tells such a workspace
// from another company's. Where Slack does not say whose member it is, the id is
// one that no list holds.
func (ch *Channel) personID(user, team string) string {
	switch self := ch.self.Load(); {
	case team == "":
		user = "?/" + user
	case team != self.TeamID && (self.EnterpriseID == "" || team != self.EnterpriseID):
		user = team + "/" + user
	}
	return Name + ":" + user
}

// ask puts an answer to the desk.
func (ch *Channel) ask(ctx context.Context, answer delivery.AnswerFunc, a approval.Answer) approval.Outcome {
	a.Via = Name
	o, err := answer(ctx, a)
	if err != nil {
		ch.Log.ErrorContext(ctx, "an answer could not be taken", "err", err)
	}
	return o
}

// tap takes a press of a button. Who pressed it is the first thing that the desk
// looks at.
func (ch *Channel) tap(ctx context.Context, answer delivery.AnswerFunc, i *interaction) {
	if i.User.IsBot || i.User.ID == "" {
		return
	}
	at := i.place()
	o := ch.ask(ctx, answer, approval.Answer{ID: ch.personID(i.User.ID, i.User.TeamID), Name: i.User.Name, Handle: i.handle()})
	var err error
	if o.Kind == approval.Shown {
		err = ch.details(ctx, o.Card, at)
		o.Delivered(ctx, err)
	}
	if err != nil {
		o.Text = "Slack did not let that be shown. Nothing was decided; try again, or type the line on the card."
		ch.Log.WarnContext(ctx, "a tap could not be followed up", "err", err)
	}
	if err != nil || o.Kind != approval.Shown {
		ch.reply(ctx, &o, i.User.ID, at)
	}
	ch.refresh(ctx, o, at)
}

// refresh brings a message up to date that should have no buttons any more.
func (ch *Channel) refresh(ctx context.Context, o approval.Outcome, at ref) {
	if o.Kind != approval.TooLate || o.Card == nil || at.message == "" || at.thread != "" { // a thread has details
		return
	}
	if err := ch.redraw(ctx, at, o.Card, o); err != nil {
		ch.Log.WarnContext(ctx, "a card could not be brought up to date; its buttons answer with the truth", "err", err)
	}
}

// strangerPatience is how long a reply to a person who may not approve may take.
const strangerPatience = 3 * time.Second

// reply tells one person alone what came of what they did.
func (ch *Channel) reply(ctx context.Context, o *approval.Outcome, user string, at ref) {
	if o.Text == "" || at.channel == "" {
		return
	}
	ctx, line, done := ch.ReplyLine(ctx, ch.Line, o, strangerPatience)
	defer done()
	if err := ch.tell(ctx, line, user, at, o.Text); err != nil {
		ch.Log.WarnContext(ctx, "the outcome could not be sent to the person", "err", err)
	}
}

// typed takes a line that someone wrote to the app: in a direct message, or in
// the thread under something that the app wrote.
func (ch *Channel) typed(ctx context.Context, answer delivery.AnswerFunc, m *message) {
	self := ch.self.Load()
	if !m.byPerson() || m.User == self.UserID {
		return
	}
	direct := m.ChannelType == "im"
	if !direct && (m.ThreadTS == "" || m.ParentUserID != self.UserID) {
		return
	}
	text := typedText(m.Text)
	if _, err := codes.Parse(text); errors.Is(err, codes.ErrNotCommand) {
		return
	}
	id := ch.personID(m.User, m.team(self.TeamID, self.EnterpriseID))
	seconds, _, _ := strings.Cut(m.TS, ".")
	sent, _ := strconv.ParseInt(seconds, 10, 64) // one that is no time is long ago: no other card was there before it
	o := ch.ask(ctx, answer, approval.Answer{
		ID: id, Name: ch.nameOf(ctx, id, m.User), Text: text, Message: m.Channel + "/" + m.TS, Sent: time.Unix(sent, 0),
	})
	at := ref{channel: m.Channel, message: m.TS, thread: m.ThreadTS}
	if !direct {
		ch.reply(ctx, &o, m.User, at)
		return
	}
	if o.Text == "" {
		return
	}
	ctx, line, done := ch.ReplyLine(ctx, ch.Line, &o, strangerPatience)
	defer done()
	if _, err := ch.write(ctx, line, ref{channel: at.channel, thread: at.thread}, said(o.Text)); err != nil {
		ch.Log.WarnContext(ctx, "a line could not be answered", "err", err)
	}
}

// namePatience is how long an answer waits for the name of the person who typed it.
const namePatience = 2 * time.Second

// nameOf asks Slack what a person is called who may approve: a typed line comes with their id alone. It is empty where Slack does not
// say, such as for an app without the scope users:read; the id is shown then. Nothing is decided by it.
func (ch *Channel) nameOf(ctx context.Context, id, user string) string {
	if !slices.ContainsFunc(ch.config.AllowedUserIDs, func(allowed delivery.ID) bool { return id == Name+":"+string(allowed) }) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, namePatience)
	defer cancel()
	about, err := ch.api.GetUserInfoContext(ctx, user)
	if err != nil {
		return ""
	}
	return cmp.Or(about.Profile.DisplayName, about.RealName, about.Name)
}
