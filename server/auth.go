package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/lineage"
)

// Auth is whose signatures and tokens count. It is made once and swapped whole
// when secrets are rotated.
type Auth struct {
	clients []string // by secret
	secrets [][]byte
	bearer  *[32]byte
	tokens  []token
	known   []string // people without a token, who log in with a passkey
	lineage map[string][]lineage.Key
}

type token struct {
	person string
	sum    [32]byte
}

// NewAuth makes an Auth. Each client signs with any of its secrets; bearer, if
// set, must be presented too; each person who answers has a token.
func NewAuth(clients map[string][]string, bearer string, tokens map[string]string) (*Auth, error) {
	a := &Auth{lineage: make(map[string][]lineage.Key)}
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		for _, secret := range clients[name] {
			if secret == "" {
				return nil, errors.New("server: the client " + name + " has an empty secret")
			}
			a.clients = append(a.clients, name)
			a.secrets = append(a.secrets, []byte(secret))
			a.lineage[name] = append(a.lineage[name], lineage.NewKey([]byte(secret)))
		}
	}
	if len(a.secrets) == 0 {
		return nil, errors.New("server: no secret is configured, so no call could be authenticated")
	}
	if bearer != "" {
		sum := sha256.Sum256([]byte(bearer))
		a.bearer = &sum
	}
	for _, person := range slices.Sorted(maps.Keys(tokens)) {
		if tokens[person] == "" {
			return nil, errors.New("server: " + person + " has an empty token")
		}
		a.tokens = append(a.tokens, token{person, sha256.Sum256([]byte(tokens[person]))})
	}
	return a, nil
}

// Lineage are the keys under which a client fingerprints texts: one for each of
// its secrets.
func (a *Auth) Lineage(client string) []lineage.Key { return a.lineage[client] }

// caller is who signed a call.
type caller struct {
	client string
	secret []byte
	body   [32]byte // the signature, by which a body is known again
}

// signatureKey is where a request's header keeps its signature.
var signatureKey = http.CanonicalHeaderKey(hmac.RequestHeader)

// call finds whose secret signed the body.
func (a *Auth) call(h http.Header, body []byte) (caller, bool) {
	signatures := h[signatureKey]
	if len(signatures) != 1 || !a.bears(h) {
		return caller{}, false
	}
	i := hmac.Match(signatures[0], body, a.secrets...)
	if i < 0 {
		return caller{}, false
	}
	from := caller{client: a.clients[i], secret: a.secrets[i]}
	_, err := hex.Decode(from.body[:], []byte(strings.TrimPrefix(signatures[0], "sha256=")))
	return from, err == nil
}

func (a *Auth) bears(h http.Header) bool {
	if a.bearer == nil {
		return true
	}
	sum := sha256.Sum256([]byte(bearer(h)))
	return subtle.ConstantTimeCompare(sum[:], a.bearer[:]) == 1
}

// person finds whose token a request carries.
func (a *Auth) person(h http.Header) (string, bool) { return a.Who(bearer(h)) }

// Who finds whose token this is. Every token is compared.
func (a *Auth) Who(token string) (string, bool) {
	sum, found := sha256.Sum256([]byte(token)), ""
	for _, t := range a.tokens {
		if subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1 {
			found = t.person
		}
	}
	return found, found != ""
}

// Mark is derived from a person's token, tells nothing of it and changes when it does.
func (a *Auth) Mark(person string) (string, bool) {
	for _, t := range a.tokens {
		if t.person == person {
			sum := sha256.Sum256(append([]byte("mark\x00"), t.sum[:]...))
			return hex.EncodeToString(sum[:]), true
		}
	}
	if slices.Contains(a.known, person) {
		sum := sha256.Sum256([]byte("no token\x00" + person))
		return hex.EncodeToString(sum[:]), true
	}
	return "", false
}

// AdmitWithoutToken names people who log in with a passkey. It is called before
// the Auth is used.
func (a *Auth) AdmitWithoutToken(people ...string) { a.known = append(a.known, people...) }

// bearer is the one bearer token of a request, or nothing.
func bearer(h http.Header) string {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, value, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(value)
}
