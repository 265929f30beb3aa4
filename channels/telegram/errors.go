package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// refusals are errors that trying again does not change.
var refusals = []error{bot.ErrorForbidden, bot.ErrorBadRequest, bot.ErrorUnauthorized, bot.ErrorNotFound, bot.ErrorConflict}

// judge says what an error of the API means.
func judge(err error) delivery.Verdict {
	if many, ok := errors.AsType[*bot.TooManyRequestsError](err); ok {
		return delivery.Verdict{Again: true, After: time.Duration(max(many.RetryAfter, 1)) * time.Second}
	}
	if _, moved := errors.AsType[*bot.MigrateError](err); moved {
		return delivery.Verdict{}
	}
	if slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) }) {
		return delivery.Verdict{}
	}
	return delivery.Verdict{Again: true, Down: true}
}

// hints are what to do about an error, where there is something.
var hints = []struct {
	err  error
	hint string
}{
	{bot.ErrorUnauthorized, "the bot token is wrong or was revoked: ask @BotFather for another one"},
	{bot.ErrorNotFound, "the bot token is wrong, or apiUrl is no Bot API"},
	{bot.ErrorForbidden, "the bot may not write there: the person must press Start first, or the bot must be let into the group"},
	{bot.ErrorConflict, "another program takes this bot's updates (a second verifier, the agent itself, or a webhook that is still set): give verifier a bot of its own"},
}

// clean makes an error that can be logged: no token, no message, no code.
func (ch *Channel) clean(method string, err error) error {
	if err == nil {
		return nil
	}
	return delivery.Explain(err, Name+": "+method, plain(err), ch.token)
}

func plain(err error) string {
	if moved, ok := errors.AsType[*bot.MigrateError](err); ok {
		return fmt.Sprintf("the group has become a supergroup: set chatId to %d", moved.MigrateToChatID)
	}
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.hint
		}
	}
	if !isPlain(err) {
		return "the answer could not be read: is apiUrl a Bot API?"
	}
	return err.Error()
}

// isPlain reports whether an error quotes no more than an address and what the API says of it. The library puts what it could not read into others: an
// update holds what people typed, codes too.
func isPlain(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*bot.TooManyRequestsError](err); ok {
		return true
	}
	return errors.Is(err, bot.ErrorBadRequest) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Unwrap(err) == nil
}

// call makes one API call about a chat, show one that brings something new into
// it.
func (ch *Channel) call(ctx context.Context, line *delivery.Line, chat int64, method string, do func(context.Context) error) error {
	return line.Do(ctx, fmt.Sprint(chat), func(ctx context.Context) error { return ch.clean(method, do(ctx)) })
}

func (ch *Channel) show(ctx context.Context, line *delivery.Line, chat int64, method string, do func(context.Context) error) error {
	return line.Send(ctx, fmt.Sprint(chat), func(ctx context.Context) error { return ch.clean(method, do(ctx)) })
}

// doer makes the library's requests: answers are bounded, and a poll that works
// is noted.
type doer struct{ ch *Channel }

// Do implements bot.HttpClient.
func (d *doer) Do(r *http.Request) (*http.Response, error) {
	client, poll := *d.ch.HTTP, strings.HasSuffix(r.URL.Path, "/getUpdates")
	if poll {
		client.Timeout = pollTimeout + 10*time.Second
	}
	res, err := client.Do(r) //nolint:gosec // the address is the apiUrl of the config
	if err != nil {
		return nil, err
	}
	delivery.Bound(res)
	if poll && res.StatusCode == http.StatusOK {
		d.ch.heard()
	}
	return res, nil
}
