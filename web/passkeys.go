package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/passkey"
)

// Passkeys log a person in. A session alone adds none: a thief of it could then come back. It
// takes the token, a passkey that is there already, or a link that `verifier login --passkey` prints.

// What a signature or a new passkey may be for.
const (
	forEnrol  = "page-enrol"       // a link that adds a passkey
	forLogin  = "page-passkey"     // a signature that logs in
	forProof  = "page-passkey-old" // a signature that lets a person add another passkey
	forNewKey = "page-passkey-new" // a new passkey
	keyLife   = 5 * time.Minute    // for a person at their authenticator
	mostNamed = 40                 // characters of a passkey's name
)

// keyOwner is whose a person's passkeys are, by the id that the desk knows.
func keyOwner(person string) string { return "token:" + person }

// passkeysView lists a person's passkeys.
type passkeysView struct {
	Keys  []passkey.Key
	Named bool // the page has a name, to which a passkey can belong
	Mine  bool // one of them is for this page
	Name  string
}

// passkeys are the views by which people see, add and remove their passkeys.
type passkeys struct {
	*sessions
	ceremonies *ceremonies
	login      *login
}

// list shows a person their passkeys.
func (k *passkeys) list(w http.ResponseWriter, r *http.Request, m *member, s said) {
	site := hostOf(r.Host)
	k.show(w, r, m, "passkeys", view{Title: "Passkeys", At: "passkeys", Said: s, Passkeys: passkeysView{
		Keys: k.o.Passkeys.Of(m.id(), ""), Named: namedHost(site), Mine: len(k.o.Passkeys.Of(m.id(), site)) > 0, Name: site,
	}})
}

// origin is where the browser says that a request comes from; it was compared with the
// name that the request is for. Where that is no name there are no passkeys.
func origin(r *http.Request) string {
	from, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || !namedHost(from.Hostname()) {
		return ""
	}
	return from.Scheme + "://" + from.Host
}

func hostOf(host string) string {
	u, err := url.Parse("//" + host)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func namedHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return host != "" && err != nil
}

// ceremonies are what a browser is asked to sign, and whether what it signed is that.
type ceremonies struct {
	*sessions
}

// newNonce begins a ceremony: it may be used once, soon, for this purpose and person. The challenge is made from it.
func (c *ceremonies) newNonce(purpose, person string) string {
	var raw [16]byte
	rand.Read(raw[:]) // it never fails
	parts := []string{hex.EncodeToString(raw[:]), strconv.FormatInt(c.o.Now().Add(keyLife).Unix(), 10), base64.RawURLEncoding.EncodeToString([]byte(person))}
	return strings.Join(append(parts, c.o.Key.Seal(purpose, parts...)), ".")
}

func challengeOf(purpose, nonce string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s", len(purpose), purpose, len(nonce), nonce))
	return sum[:]
}

// useNonce uses it up, and gives the person that it is for.
func (c *ceremonies) useNonce(ctx context.Context, purpose, nonce string) (person string, ok bool, err error) {
	f := strings.Split(nonce, ".")
	if len(nonce) > maxTicket || len(f) != 4 || !c.o.Key.Check(f[3], purpose, f[:3]...) {
		return "", false, nil
	}
	until, errUntil := strconv.ParseInt(f[1], 10, 64)
	name, errName := base64.RawURLEncoding.Strict().DecodeString(f[2])
	if errUntil != nil || errName != nil || !c.o.Now().Before(time.Unix(until, 0)) {
		return "", false, nil //nolint:nilerr // it is no nonce of ours
	}
	uses, err := c.counts.Count(ctx, "page-nonce:"+f[0], 2*keyLife, true)
	return string(name), err == nil && uses == 1, err
}

// options are what the page's script hands to the browser for a ceremony.
type options struct {
	Nonce     string   `json:"nonce"`
	Challenge string   `json:"challenge"`
	Site      string   `json:"site"`
	Keys      []string `json:"keys"` // that may sign, or that need not be made again; none: any
	User      string   `json:"user,omitzero"`
	Name      string   `json:"name,omitzero"`
}

func (c *ceremonies) options(w http.ResponseWriter, r *http.Request, purpose, person string, keys []passkey.Key) {
	nonce := c.newNonce(purpose, person)
	o := options{Nonce: nonce, Challenge: base64.RawURLEncoding.EncodeToString(challengeOf(purpose, nonce)), Site: hostOf(r.Host), Keys: []string{}, Name: person}
	if person != "" {
		o.User = base64.RawURLEncoding.EncodeToString([]byte(c.o.Key.Seal("passkey-user", person)))
	}
	for _, k := range keys {
		o.Keys = append(o.Keys, k.ID)
	}
	body, err := json.Marshal(o)
	if err != nil {
		http.Error(w, "The page can't answer now.", http.StatusInternalServerError)
		return
	}
	c.send(w, r, "application/json", body)
}

// assertion is what a form says that an authenticator signed; nil where it says nothing.
func assertion(r *http.Request) *passkey.Assertion {
	a := &passkey.Assertion{ID: bytesOf(r, "id"), ClientData: bytesOf(r, "client"), AuthData: bytesOf(r, "auth"), Signature: bytesOf(r, "signature")}
	if len(a.Signature) == 0 {
		return nil
	}
	return a
}

func bytesOf(r *http.Request, field string) []byte {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(r.PostFormValue(field))
	if err != nil {
		return nil
	}
	return raw
}

var (
	badPasskey = refusal{"This passkey is not known here, or its signature does not fit. Nothing was changed.", http.StatusUnauthorized}
	badEnrol   = refusal{"This link was used or is too old. `verifier login --passkey` prints a new one.", http.StatusUnauthorized}
	noProof    = refusal{"Your session alone adds no passkey. Use your token, or a passkey that you have. Nothing was changed.", http.StatusForbidden}
	noName     = refusal{"Passkeys need a page with a name. Open it as localhost, or set web.url. Nothing was changed.", http.StatusUnprocessableEntity}
)

// signed checks a signature that was asked for with a nonce of the page.
func (c *ceremonies) signed(r *http.Request, purpose, person string) (key passkey.Key, why refusal, err error) {
	a := assertion(r)
	if a == nil {
		return key, badPasskey, nil
	}
	of, ok, err := c.useNonce(r.Context(), purpose, r.PostFormValue("nonce"))
	if err != nil || !ok || of != person {
		return key, badPasskey, err
	}
	owner := ""
	if person != "" {
		owner = keyOwner(person)
	}
	want := passkey.Ceremony{Challenge: challengeOf(purpose, r.PostFormValue("nonce")), Origin: origin(r), Site: hostOf(r.Host)}
	key, errKey := c.o.Passkeys.Check(owner, a, want, c.o.Now())
	if errKey != nil {
		c.o.Log.WarnContext(r.Context(), "a passkey's signature was refused on the page", "peer", c.o.Peer(r), "err", errKey)
		return key, badPasskey, nil
	}
	return key, refusal{}, nil
}

// wantsProof begins the signature by which a person adds another passkey.
func (k *passkeys) wantsProof(w http.ResponseWriter, r *http.Request, m *member) {
	k.ceremonies.options(w, r, forProof, m.Person, k.o.Passkeys.Of(m.id(), hostOf(r.Host)))
}

// newKey begins a new passkey for someone who proves more than a session does.
func (k *passkeys) newKey(w http.ResponseWriter, r *http.Request) {
	person, why, err := k.provesMore(r)
	switch {
	case err != nil:
		k.login.noLogin(w, r, err)
	case why.text != "":
		http.Error(w, why.text, why.status)
	case origin(r) == "":
		http.Error(w, noName.text, noName.status)
	default:
		k.ceremonies.options(w, r, forNewKey, person, k.o.Passkeys.Of(keyOwner(person), hostOf(r.Host)))
	}
}

// provesMore is who adds a passkey: by a link for that, or logged in and with the token or a passkey.
func (k *passkeys) provesMore(r *http.Request) (person string, why refusal, err error) {
	if link := r.PostFormValue("link"); link != "" {
		t, ok, err := k.unused(r.Context(), forEnrol, link, true)
		if !ok || !k.o.Desk.Lists(keyOwner(t.Person)) {
			return "", badEnrol, err
		}
		return t.Person, refusal{}, nil
	}
	m, err := k.who(r)
	switch {
	case err != nil:
		return "", refusal{}, err
	case m == nil:
		return "", refusal{"You are not logged in. Nothing was changed.", http.StatusUnauthorized}, nil
	case !m.Approver:
		return "", refusal{"You may look and not answer. Nothing was changed.", http.StatusForbidden}, nil
	case r.PostFormValue("token") != "":
		t, why, err := k.login.byToken(r)
		if err != nil || t == nil {
			return "", why, err
		}
		if t.Person != m.Person {
			return "", badToken, nil
		}
		return m.Person, refusal{}, nil
	case assertion(r) != nil:
		_, why, err := k.ceremonies.signed(r, forProof, m.Person)
		return m.Person, why, err
	}
	return "", noProof, nil
}

// addKey takes the new passkey. The nonce says whose it is: only [passkeys.newKey] gives one.
func (k *passkeys) addKey(w http.ResponseWriter, r *http.Request) {
	nonce := r.PostFormValue("nonce")
	person, ok, err := k.ceremonies.useNonce(r.Context(), forNewKey, nonce)
	if err != nil {
		k.login.noLogin(w, r, err)
		return
	}
	if _, known := k.o.People().Mark(person); !ok || !known || !k.o.Desk.Lists(keyOwner(person)) {
		http.Error(w, "That took too long, or was sent twice. Begin again. Nothing was changed.", http.StatusUnauthorized)
		return
	}
	made := &passkey.Registration{ID: bytesOf(r, "id"), ClientData: bytesOf(r, "client"), AuthData: bytesOf(r, "auth"), Public: bytesOf(r, "public")}
	want := passkey.Ceremony{Challenge: challengeOf(forNewKey, nonce), Origin: origin(r), Site: hostOf(r.Host)}
	if err := made.Check(want); err != nil { // so that nothing is recorded that is not added
		k.o.Log.WarnContext(r.Context(), "a new passkey was refused", "err", err)
		http.Error(w, "The passkey was not taken: "+whyNot(err)+" Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	if err := k.record(r.Context(), record.Entry{Note: "adds a passkey on the page from " + k.o.Peer(r)},
		record.Person{Name: person, Passkey: passkey.NameID(made.ID)}); err != nil {
		http.Error(w, "The record can't be written, so the passkey was not added. Try again.", http.StatusServiceUnavailable)
		return
	}
	if _, err := k.o.Passkeys.Add(keyOwner(person), k.givenName(r, "Passkey"), made, want, k.o.Now()); err != nil {
		k.o.Log.WarnContext(r.Context(), "a new passkey was refused", "err", err)
		http.Error(w, "The passkey was not taken: "+whyNot(err)+" Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	k.o.Desk.Tell(r.Context(), fmt.Sprintf(keyAdded, person, k.o.Peer(r))) // with a stolen token it is done, too
	if len(r.Header.Values(sessionHeader)) == 0 {                          // by a link: the new passkey has just been used
		k.login.enter(w, r, ticket{Person: person})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

const keyAdded = "A passkey of %s was added on the page from %s. It logs in. " +
	"If you can't explain it, remove it on your page, and change the token."

func whyNot(err error) string {
	switch {
	case errors.Is(err, passkey.ErrFull):
		return fmt.Sprintf("you have %d already.", passkey.MostKeys)
	case errors.Is(err, passkey.ErrTaken):
		return "it is on your list already."
	case errors.Is(err, passkey.ErrVerified):
		return "your device did not check that it is you. Set a PIN or a finger there first."
	case errors.Is(err, passkey.ErrKey):
		return "your browser did not give a public key that is understood here."
	}
	return "what your browser sent does not fit."
}

// removeKey takes a passkey off the list. Less can be allowed then, so that a session is enough.
func (k *passkeys) removeKey(w http.ResponseWriter, r *http.Request, m *member) {
	gone, err := k.o.Passkeys.Remove(m.id(), r.PostFormValue("id"))
	switch {
	case errors.Is(err, passkey.ErrUnknown):
		k.list(w, r, m, said{Text: "You have no such passkey. Nothing was changed.", Tone: odd})
		return
	case err != nil:
		k.o.Log.ErrorContext(r.Context(), "a passkey could not be removed", "err", err)
		k.list(w, r, m, said{Text: "The passkey could not be removed. Try again.", Tone: odd})
		return
	}
	by := record.Person{Name: m.Person, Passkey: gone.ID}
	// An error is logged, and the passkey is removed all the same.
	_ = k.record(r.Context(), record.Entry{Note: "removed a passkey on the page"}, by)
	k.list(w, r, m, said{Text: "The passkey is removed. It signs nothing here any more.", Tone: good})
}
