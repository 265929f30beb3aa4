package discord

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

// Headers and limits of a signed request:
// https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint-validating-security-request-headers
const (
	signatureHeader = "X-Signature-Ed25519"
	timeHeader      = "X-Signature-Timestamp"
	tolerance       = 5 * time.Minute
	maxSeen         = 10_000 // taps within twice the tolerance; more are turned away
)

// check gives the key.
func (i *Interactions) check() ([]byte, error) {
	i.Path = cmp.Or(i.Path, defaultPath)
	if !strings.HasPrefix(i.Path, "/") {
		return nil, errors.New("interactions.path must begin with a slash")
	}
	key, err := hex.DecodeString(i.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("interactions.publicKey must be the application's public key, 64 hex digits: copy it from General Information in the Developer Portal")
	}
	return key, nil
}

// attend checks with Discord that signed requests are meant for us, and waits.
func (ch *Channel) attend(ctx context.Context) error {
	app, err := ch.application(ctx)
	if err != nil {
		return err
	}
	if err := ch.ours(app); err != nil {
		return err
	}
	if app.Endpoint == "" {
		ch.Log.Warn(noEndpoint, "path", ch.config.Interactions.Path)
	}
	ch.heard()
	<-ctx.Done()
	return nil
}

const noEndpoint = "no Interactions Endpoint URL is set in the Developer Portal: until it is, no tap arrives"

// ours says that the key is another application's, if it is.
func (ch *Channel) ours(app *application) error {
	if app.VerifyKey == "" || strings.EqualFold(app.VerifyKey, ch.config.Interactions.PublicKey) {
		return nil
	}
	return &refusal{"interactions.publicKey is not the key of the bot's application: copy it from General Information in the Developer Portal"}
}

// Hook is where Discord's requests come in; nil where they don't.
func (ch *Channel) Hook() (path string, h http.Handler) {
	if ch.key == nil {
		return "", nil
	}
	return ch.config.Interactions.Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		switch body, status := delivery.ReadRequest(w, r); {
		case status != 0:
			w.WriteHeader(status)
		case !ch.signed(r.Header, body):
			http.Error(w, "The signature is missing, wrong or too old.", http.StatusUnauthorized)
		default:
			ch.take(w, body)
		}
	})
}

// signed reports whether Discord made a request, and just now.
func (ch *Channel) signed(h http.Header, body []byte) bool {
	signature, stamp := h.Values(signatureHeader), h.Values(timeHeader)
	if len(signature) != 1 || len(stamp) != 1 {
		return false
	}
	sig, err := hex.DecodeString(signature[0])
	at, errTime := strconv.ParseInt(stamp[0], 10, 64)
	if err != nil || errTime != nil || len(sig) != ed25519.SignatureSize {
		return false
	}
	if age := ch.Now().Sub(time.Unix(at, 0)).Abs(); age > tolerance {
		return false
	}
	return ed25519.Verify(ch.key, append([]byte(stamp[0]), body...), sig)
}

// take works on a request that Discord has made. The answer to a tap goes the
// other way, as a call of ours; only a ping is answered here.
func (ch *Channel) take(w http.ResponseWriter, body []byte) {
	var i discordgo.Interaction
	if json.Unmarshal(body, &i) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if i.Type == discordgo.InteractionPing {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"type":1}`) //nolint:errcheck // Discord may have gone
		return
	}
	if !ch.seen.first(i.ID, ch.Now()) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	over, cancel := context.WithCancel(context.Background())
	cancel() // Discord does not wait for a worker to be free
	if !ch.Listener.Take(over, func(ctx context.Context, answer delivery.AnswerFunc) { ch.interaction(ctx, answer, &i) }) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// seen are the requests that came in while their signatures were good, so that
// none counts twice.
type seen struct {
	mu  sync.Mutex
	ids map[string]time.Time
}

// first reports whether a request is new. Where there are too many to tell, none
// is.
func (s *seen) first(id string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = make(map[string]time.Time)
	}
	if len(s.ids) >= maxSeen {
		for id, at := range s.ids {
			if now.Sub(at) > 2*tolerance {
				delete(s.ids, id)
			}
		}
	}
	if _, again := s.ids[id]; again || id == "" || len(s.ids) >= maxSeen {
		return false
	}
	s.ids[id] = now
	return true
}
