package slack

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// errNoAnswer is an answer without what was asked for. The library takes one
// that is neither good nor bad for good.
var errNoAnswer = errors.New("the answer could not be read: is apiUrl Slack's API?")

// passing are Slack's words for errors that may be over soon.
var passing = []string{"fatal_error", "internal_error", "ratelimited", "rate_limited", "request_timeout", "service_unavailable"}

// judge says what an error of the API means.
func judge(err error) delivery.Verdict {
	if many, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return delivery.Verdict{Again: true, After: max(many.RetryAfter, time.Second)}
	}
	if refused, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		again := slices.Contains(passing, refused.Err)
		return delivery.Verdict{Again: again, Down: again}
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		switch {
		case status.Code == http.StatusTooManyRequests:
			return delivery.Verdict{Again: true, After: time.Second}
		case status.Code < http.StatusInternalServerError:
			return delivery.Verdict{}
		}
	}
	return delivery.Verdict{Again: true, Down: true}
}

// wordOf is what the API called its error; "" if it was none of the API's.
func wordOf(err error) string {
	refused, _ := errors.AsType[slack.SlackErrorResponse](err)
	return refused.Err
}

const (
	badToken     = "the bot token is wrong or was revoked: copy the one under OAuth & Permissions, it begins with xoxb-"
	badAppToken  = "the app token is wrong or was revoked: make one under Basic Information, App-Level Tokens, with the scope connections:write; it begins with xapp-"
	notInvited   = "the app is not in that channel, or channelId is wrong: write /invite @ and the app's name there"
	noDirectChat = "the app can't be written to: switch the Messages Tab on under App Home"
)

// hints are what to do about an error, where there is something.
var hints = map[string]string{
	"invalid_auth": badToken, "not_authed": badToken, "token_revoked": badToken, "token_expired": badToken, "account_inactive": badToken,
	"channel_not_found": notInvited, "not_in_channel": notInvited, "user_not_found": "there is no person with the id that channelId names",
	"is_archived": "the channel is archived", "messages_tab_disabled": noDirectChat,
	"restricted_action": "the workspace does not let the app write in that channel",
}

// connectHints are for the method that takes the other token.
var connectHints = map[string]string{
	"invalid_auth": badAppToken, "not_authed": badAppToken, "token_revoked": badAppToken, "token_expired": badAppToken,
	"account_inactive": badAppToken, "not_allowed_token_type": badAppToken,
	"missing_scope": badAppToken,
}

const connectMethod = "apps.connections.open"

// clean makes an error that can be logged: no token, no message, no code.
func (ch *Channel) clean(method string, err error) error {
	if err == nil {
		return nil
	}
	return delivery.Explain(err, Name+": "+method, explain(method, err), ch.config.BotToken, ch.config.AppToken)
}

func explain(method string, err error) string {
	known := hints
	if method == connectMethod {
		known = connectHints
	}
	if hint := known[wordOf(err)]; hint != "" {
		return hint
	}
	if refused, ok := errors.AsType[slack.SlackErrorResponse](err); ok && refused.Err == "missing_scope" {
		return "the app lacks the scope " + scopes(refused.Needed) + ": add it under OAuth & Permissions and install the app again"
	}
	if delivery.Undecodable(err) || errors.Is(err, io.EOF) {
		return errNoAnswer.Error()
	}
	return err.Error()
}

var notScope = regexp.MustCompile(`[^a-z:,._]`)

// scopes are the names that Slack gives, and nothing else that it may send.
func scopes(s string) string {
	if s = notScope.ReplaceAllString(s, ""); s == "" {
		return "that this needs"
	}
	return s
}

// carrier is a line's Do or Send.
type carrier = func(ctx context.Context, about string, call func(context.Context) error) error

// call makes one API call about a chat or a person. Slack limits each method by
// itself, so one that has to wait keeps no other from being called.
func (ch *Channel) call(ctx context.Context, carry carrier, method, about string, do func(context.Context) error) error {
	return carry(ctx, method+" "+about, func(ctx context.Context) error { return ch.clean(method, do(ctx)) })
}

// doer makes the library's requests. Answers are bounded.
type doer struct{ http *http.Client }

// Do is what the library asks for.
func (d *doer) Do(r *http.Request) (*http.Response, error) {
	res, err := d.http.Do(r) //nolint:gosec // the address is the config's, or Slack's own for a file
	if err == nil {
		delivery.Bound(res)
	}
	return res, err
}
