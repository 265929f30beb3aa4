package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// userAgent is of the form that Discord asks for:
// https://discord.com/developers/docs/reference#user-agent
const userAgent = "DiscordBot (https://github.com/openclaw-verifier/verifier, 1)"

// rest is a client for one call. The library lets calls to the same place wait
// for each other, whatever their deadlines, and never forgets a place; a client
// of its own for each call does neither.
func (ch *Channel) rest() *discordgo.Session {
	return &discordgo.Session{
		Token: "Bot " + ch.token, Client: ch.HTTP, UserAgent: userAgent, Ratelimiter: discordgo.NewRatelimiter(), LogLevel: -1,
	}
}

// call makes a call about a chat or a person.
func (ch *Channel) call(ctx context.Context, line *delivery.Line, about, what string, do func(s *discordgo.Session, with discordgo.RequestOption) error) error {
	return line.Do(ctx, about, func(ctx context.Context) error {
		return ch.clean(what, do(ch.rest(), discordgo.WithContext(ctx)))
	})
}

// transport sends the library's requests to apiUrl, bounds the answers, and
// turns a pause that Discord asks for into an error that says how long.
type transport struct {
	to    *url.URL
	inner http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = t.to.Scheme, t.to.Host, t.to.Host
	r.URL.Path, r.URL.RawPath = t.to.Path+r.URL.Path, ""
	res, err := t.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	delivery.Bound(res)
	for name := range res.Header {
		if strings.HasPrefix(name, "X-Ratelimit-") { // the library would sleep on them; our line keeps the limits
			res.Header.Del(name)
		}
	}
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		defer res.Body.Close()
		return nil, &limited{after: pauseOf(res)}
	case res.StatusCode >= http.StatusInternalServerError:
		defer res.Body.Close()
		return nil, fmt.Errorf("an error of Discord's own: HTTP %d", res.StatusCode)
	}
	return res, nil
}

// CloseIdleConnections is called by http.Client.
func (t *transport) CloseIdleConnections() { (&http.Client{Transport: t.inner}).CloseIdleConnections() }

// limited says that Discord wants a pause.
type limited struct{ after time.Duration }

func (l *limited) Error() string {
	return "too many requests: Discord asks for a pause of " + l.after.String()
}

// pauseOf reads how long the pause is: the body has it to the millisecond, a
// proxy in front of Discord only sets the header.
func pauseOf(res *http.Response) time.Duration {
	var body struct {
		After float64 `json:"retry_after"`
	}
	after := 0.
	if json.UnmarshalRead(res.Body, &body) == nil {
		after = body.After
	}
	if header, err := strconv.ParseFloat(res.Header.Get("Retry-After"), 64); err == nil && after <= 0 {
		after = header
	}
	const longest = 24 * time.Hour
	switch pause := time.Duration(after * float64(time.Second)); {
	case after >= longest.Seconds():
		return longest
	case pause <= 0:
		return time.Second
	default:
		return pause
	}
}

// judge says what an error of the API means.
func judge(err error) delivery.Verdict {
	if l, ok := errors.AsType[*limited](err); ok {
		return delivery.Verdict{Again: true, After: l.after}
	}
	if s := statusOf(err); s >= 400 && s < 500 {
		return delivery.Verdict{}
	}
	return delivery.Verdict{Again: true, Down: true}
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*discordgo.RESTError](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

// codeOf is Discord's own number of an error:
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
func codeOf(err error) int {
	if e, ok := errors.AsType[*discordgo.RESTError](err); ok && e.Message != nil {
		return e.Message.Code
	}
	return 0
}

// The numbers that mean something here.
const (
	unknownChannel     = 10003
	unknownMessage     = 10008
	unknownInteraction = 10062
	alreadyAnswered    = 40060
	missingAccess      = 50001
	closedToUs         = 50007
	missingPermissions = 50013
)

// hints are what to do about an error, where there is something.
var hints = map[int]string{
	unknownChannel:     "the bot knows no such channel: check channelId, and that the bot is in that server",
	unknownInteraction: "the tap was answered too late for Discord",
	missingAccess:      mayNotWrite,
	missingPermissions: mayNotWrite,
	closedToUs:         "this person takes no direct messages from the bot: they must share a server with it or have installed it, and allow messages from there",
}

const (
	mayNotWrite = "the bot may not write there: give it View Channel, Send Messages, Attach Files and Read Message History in that channel"
	wrongToken  = "the bot token is wrong or was reset: make another one in the Developer Portal under Bot"
)

// clean makes an error that can be logged: no token, no address (tokens of taps
// are part of some), no message, no code.
func (ch *Channel) clean(what string, err error) error {
	if err == nil {
		return nil
	}
	return delivery.Explain(err, Name+": "+what, plain(err), ch.token)
}

func plain(err error) string {
	if hint, known := hints[codeOf(err)]; known {
		return hint
	}
	if e, ok := errors.AsType[*discordgo.RESTError](err); ok {
		return refusalText(e)
	}
	if errors.Is(err, discordgo.ErrJSONUnmarshal) { // the library puts what it could not read into the error
		return "the answer could not be read: is apiUrl Discord's API?"
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return err.Error()
}

// refusalText is what an error of the API says, without what was sent.
func refusalText(e *discordgo.RESTError) string {
	if e.Response.StatusCode == http.StatusUnauthorized {
		return wrongToken
	}
	text := fmt.Sprintf("HTTP %d", e.Response.StatusCode)
	if e.Message != nil {
		text += fmt.Sprintf(", %s (%d)", cmp.Or(e.Message.Message, "no reason given"), e.Message.Code)
	}
	return text
}
