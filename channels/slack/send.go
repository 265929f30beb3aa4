package slack

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Send shows a card. Where something is longer than the card, the whole follows
// as a file in its thread.
func (ch *Channel) Send(ctx context.Context, c *approval.Card) (string, error) {
	cut := false
	d := channels.Show(c, nil, ch.Now(), func(doc *channels.Document) (*drawing, bool) {
		cut = doc.Cut
		return draw(doc.LinkTo(ch.Page, c))
	})
	at, err := ch.write(ctx, ch.Line, ref{channel: ch.chat}, d)
	if err != nil {
		return "", err
	}
	if cut {
		ch.Tasks.Go("the whole of a card could not be attached; More shows it", func(ctx context.Context) error {
			return ch.attach(ctx, c, at)
		})
	}
	return at.String(), nil
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

func (ch *Channel) redraw(ctx context.Context, at ref, c *approval.Card, o approval.Outcome) error {
	return ch.update(ctx, at, channels.Show(c, &o, ch.Now(), func(doc *channels.Document) (*drawing, bool) {
		return draw(doc.LinkTo(ch.Page, c))
	}))
}

// details shows all there is of a card in its thread: as a message where there
// is room for it, else as a file. The buttons come after it: what did not arrive
// can't be allowed.
func (ch *Channel) details(ctx context.Context, c *approval.Card, under ref) error {
	d, fits := ch.detailed(c)
	if !fits {
		if err := ch.attach(ctx, c, under); err != nil {
			return err
		}
	}
	_, err := ch.write(ctx, ch.Line, ref{channel: under.channel, thread: under.root()}, d)
	return err
}

// detailed are the details, or where to find them if there is no room for them.
func (ch *Channel) detailed(c *approval.Card) (d *drawing, fits bool) {
	doc := channels.Details(c, ch.Now()).LinkTo(ch.Page, c)
	if d, fits = draw(doc); fits {
		return d, true
	}
	doc.Blocks = []channels.Block{{Kind: channels.Note, Label: "All of it is in the file " + fileName(c) + " in this thread."}}
	doc.Buttons = channels.BesideFile(c, doc.Buttons)
	d, _ = draw(doc)
	return d, false
}

func fileName(c *approval.Card) string { return c.Ref() + ".txt" }

// attach puts all there is of a card into a file in its thread.
func (ch *Channel) attach(ctx context.Context, c *approval.Card, under ref) error {
	whole, name := channels.Whole(channels.Details(c, ch.Now())), fileName(c)
	return ch.call(ctx, ch.Line.Send, "files.completeUploadExternal", under.channel, func(ctx context.Context) error {
		up, err := ch.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: name, FileSize: len(whole)})
		if err != nil {
			return err
		}
		if up.UploadURL == "" {
			return errNoAnswer
		}
		if err := ch.api.UploadToURL(ctx, slack.UploadToURLParameters{UploadURL: up.UploadURL, Content: whole, Filename: name}); err != nil {
			return err
		}
		done, err := ch.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: []slack.FileSummary{{ID: up.FileID, Title: name}}, Channel: under.channel, ThreadTimestamp: under.root(),
		})
		if err == nil && !done.Ok {
			err = errNoAnswer
		}
		return err
	})
}

// literally are the options of every message: nothing in it is looked for.
func literally(d *drawing) slack.MsgOption {
	return slack.MsgOptionCompose(
		slack.MsgOptionText(d.text, true), slack.MsgOptionBlocks(d.blocks...), slack.MsgOptionParse(false), slack.MsgOptionLinkNames(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(), slack.MsgOptionDisableMarkdown(),
	)
}

// write sends a message to a channel or a thread and returns where it is. A
// message to a person is in another place than it was sent to.
func (ch *Channel) write(ctx context.Context, line *delivery.Line, to ref, d *drawing) (at ref, err error) {
	options := []slack.MsgOption{literally(d)}
	if to.thread != "" {
		options = append(options, slack.MsgOptionTS(to.thread))
	}
	err = ch.call(ctx, line.Send, "chat.postMessage", to.channel, func(ctx context.Context) error {
		channel, ts, err := ch.api.PostMessageContext(ctx, to.channel, options...)
		if err == nil && (channel == "" || ts == "") {
			err = errNoAnswer
		}
		at = ref{channel: channel, message: ts, thread: to.thread}
		return err
	})
	return at, err
}

// update writes a message anew.
func (ch *Channel) update(ctx context.Context, at ref, d *drawing) error {
	return ch.call(ctx, ch.Line.Do, "chat.update", at.channel, func(ctx context.Context) error {
		_, ts, _, err := ch.api.UpdateMessageContext(ctx, at.channel, at.message, literally(d))
		if wordOf(err) == "message_not_found" {
			return nil // someone took it away, and its buttons with it
		}
		if err == nil && ts == "" {
			err = errNoAnswer
		}
		return err
	})
}

// tell says something to one person alone, where they are.
func (ch *Channel) tell(ctx context.Context, line *delivery.Line, user string, at ref, text string) error {
	options := []slack.MsgOption{literally(said(text))}
	if at.thread != "" {
		options = append(options, slack.MsgOptionTS(at.thread))
	}
	return ch.call(ctx, line.Send, "chat.postEphemeral", user, func(ctx context.Context) error {
		ts, err := ch.api.PostEphemeralContext(ctx, at.channel, user, options...)
		if err == nil && ts == "" {
			err = errNoAnswer
		}
		return err
	})
}

// ref is where a message is.
type ref struct {
	channel string
	message string // its time, which is its name
	thread  string // the message whose thread it is in; "" if it is in none
}

// String is the ref as the desk keeps it.
func (r ref) String() string { return r.channel + "/" + r.message }

// root is the message whose thread this one belongs to.
func (r ref) root() string { return cmp.Or(r.thread, r.message) }

func parseRef(s string) (ref, error) {
	channel, message, found := strings.Cut(s, "/")
	if !found || channel == "" || message == "" {
		return ref{}, fmt.Errorf("slack: %q is no place of a message", s)
	}
	return ref{channel: channel, message: message}, nil
}
