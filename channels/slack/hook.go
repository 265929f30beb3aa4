package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// What comes with each request: https://docs.slack.dev/authentication/verifying-requests-from-slack
const (
	signatureHeader = "X-Slack-Signature"
	timeHeader      = "X-Slack-Request-Timestamp"
	signedVersion   = "v0"
	tolerance       = 5 * time.Minute
	maxChallenge    = 1000 // characters
	// Slack waits three seconds for an answer.
	hookPatience = 2 * time.Second
)

// Hook is where Slack's requests come in; nil where they don't.
func (ch *Channel) Hook() (path string, h http.Handler) {
	if ch.config.Webhook == nil {
		return "", nil
	}
	return ch.config.Webhook.Path, http.HandlerFunc(ch.serve)
}

func (ch *Channel) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Slack posts here.", http.StatusMethodNotAllowed)
		return
	}
	now := ch.Now()
	signature, at, ok := signed(r.Header)
	if !ok || at.Before(now.Add(-tolerance)) || at.After(now.Add(tolerance)) {
		http.Error(w, "The signature is missing, or it is not from now.", http.StatusUnauthorized)
		return
	}
	body, status := delivery.ReadRequest(w, r)
	if status != 0 {
		http.Error(w, "The request can't be read.", status)
		return
	}
	if !hmac.Equal(signature, sign(ch.config.Webhook.SigningSecret, r.Header.Get(timeHeader), body)) {
		http.Error(w, "The signature is wrong.", http.StatusUnauthorized)
		return
	}
	once := "request " + hex.EncodeToString(signature)
	if !ch.seen.first(once, now) {
		return // sent again by someone: it was taken before
	}
	if !ch.serveSigned(w, r, body) {
		ch.seen.forget(once)
	}
}

// signed reads the headers: each must be there just once.
func signed(h http.Header) (signature []byte, at time.Time, ok bool) {
	given, times := h.Values(signatureHeader), h.Values(timeHeader)
	if len(given) != 1 || len(times) != 1 {
		return nil, time.Time{}, false
	}
	seconds, err := strconv.ParseInt(times[0], 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return nil, time.Time{}, false
	}
	digits, found := strings.CutPrefix(given[0], signedVersion+"=")
	signature, err = hex.DecodeString(digits)
	return signature, time.Unix(seconds, 0), found && err == nil && len(signature) == sha256.Size
}

func sign(secret, at string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signedVersion + ":" + at + ":"))
	mac.Write(body)
	return mac.Sum(nil)
}

// serveSigned takes a request that is Slack's, and reports whether it was. What
// can't be taken now Slack sends again, or the person does.
func (ch *Channel) serveSigned(w http.ResponseWriter, r *http.Request, body []byte) bool {
	p, err := readRequest(r.Header.Get("Content-Type"), body)
	if err != nil {
		http.Error(w, "That can't be read.", http.StatusBadRequest)
		return false
	}
	if n := p.notification; n != nil && n.Type == urlVerification {
		challenge(w, n.Challenge)
		return true
	}
	ctx, cancel := context.WithTimeout(r.Context(), hookPatience)
	defer cancel()
	if !ch.take(ctx, p) {
		http.Error(w, "No gateway listens at this moment.", http.StatusServiceUnavailable)
		return false
	}
	w.WriteHeader(http.StatusOK)
	return true
}

// challenge proves to Slack that the address is ours.
func challenge(w http.ResponseWriter, text string) {
	if len(text) > maxChallenge {
		http.Error(w, "That is no challenge.", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	io.WriteString(w, text) //nolint:errcheck // Slack may have gone
}

// readRequest tells the two kinds of requests apart: forms bring what people
// tapped, JSON what they wrote.
func readRequest(contentType string, body []byte) (payload, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return payload{}, errPayload
	}
	switch media {
	case "application/json":
		return readPayload(aNotification, body)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil || len(form["payload"]) != 1 {
			return payload{}, errPayload
		}
		return readPayload(anInteraction, []byte(form["payload"][0]))
	}
	return payload{}, errPayload
}

// seen remembers what was taken, so that it is taken once. A tap means nothing
// the second time anyway; this also covers lines.
type seen struct {
	mu    sync.Mutex
	until map[string]time.Time
}

const (
	// A request is good for as long as its time may be off, in both directions;
	// an event comes again for an hour at most.
	rememberFor = time.Hour + 2*tolerance
	maxSeen     = 20_000
)

// first reports whether this comes for the first time.
func (s *seen) first(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, known := s.until[key]; known && now.Before(until) {
		return false
	}
	if len(s.until) >= maxSeen {
		s.tidy(now)
	}
	if s.until == nil {
		s.until = make(map[string]time.Time)
	}
	s.until[key] = now.Add(rememberFor)
	return true
}

// tidy makes room: what is over goes, and if that is not enough, whatever comes
// first.
func (s *seen) tidy(now time.Time) {
	for key, until := range s.until {
		if !now.Before(until) || len(s.until) >= maxSeen {
			delete(s.until, key)
		}
	}
}

func (s *seen) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.until, key)
}
