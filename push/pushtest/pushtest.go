// Package pushtest is a push service on a loopback port, and the browsers that
// subscribe to it. It speaks RFC 8030, checks who sends (VAPID, RFC 8292) and
// decrypts what comes (RFC 8291), with code of its own. It is for tests only.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// Push is a message as it arrived, decrypted.
type Push struct {
	Text    string
	Length  int // of the body
	TTL     int
	Urgency string
	Topic   string
	Claims  Claims
}

// Claims are what the sender's token says.
type Claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Contact  string `json:"sub"`
}

// Service is a push service. Pushes gets what it took.
type Service struct {
	URL    string
	Pushes chan Push

	t       testing.TB
	mu      sync.Mutex
	last    int
	devices map[string]*Device
	answer  http.HandlerFunc
}

// Device is a browser that has subscribed, for messages of one sender.
type Device struct {
	Endpoint, P256dh, Auth string

	key    *ecdh.PrivateKey
	auth   []byte
	sender string
}

// Start starts a service that ends with the test.
func Start(t testing.TB) *Service {
	t.Helper()
	s := &Service{t: t, Pushes: make(chan Push, 100), devices: make(map[string]*Device)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Subscribe makes a device that takes messages of the sender with this public key, in
// base64url; empty: of any.
func (s *Service) Subscribe(sender string) *Device {
	s.t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	d := &Device{key: key, auth: make([]byte, 16), sender: sender}
	rand.Read(d.auth) // it never fails
	d.P256dh, d.Auth = encode(key.PublicKey().Bytes()), encode(d.auth)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	path := "/push/" + strconv.Itoa(s.last)
	d.Endpoint = s.URL + path
	s.devices[path] = d
	return d
}

// Answer lets the service answer otherwise from now on; nil: as it should.
func (s *Service) Answer(with http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = with
}

// Next waits for a message.
func (s *Service) Next() Push {
	s.t.Helper()
	select {
	case p := <-s.Pushes:
		return p
	case <-time.After(20 * time.Second):
		s.t.Fatal("no push came")
		return Push{}
	}
}

// ServeHTTP takes messages.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	answer, d := s.answer, s.devices[r.URL.Path]
	s.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	if d == nil {
		http.Error(w, "no such subscription", http.StatusNotFound)
		return
	}
	p, err := d.take(r)
	if err != nil {
		s.t.Errorf("a push that a service would refuse: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Pushes <- p
	w.Header().Set("Location", s.URL+"/message/1")
	w.WriteHeader(http.StatusCreated)
}

func (d *Device) take(r *http.Request) (p Push, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return p, err
	}
	p = Push{Length: len(body), Urgency: r.Header.Get("Urgency"), Topic: r.Header.Get("Topic")}
	switch {
	case r.Method != http.MethodPost:
		return p, errors.New("it is no POST")
	case len(body) > 4096:
		return p, fmt.Errorf("it has %d bytes", len(body))
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return p, errors.New("it is not aes128gcm")
	case len(p.Topic) > 32:
		return p, errors.New("the topic is too long")
	}
	if p.TTL, err = strconv.Atoi(r.Header.Get("TTL")); err != nil || p.TTL < 0 {
		return p, errors.New("there is no TTL")
	}
	if p.Claims, err = d.sentBy(r); err != nil {
		return p, err
	}
	text, err := decrypt(d.key, d.auth, body)
	p.Text = string(text)
	return p, err
}

// sentBy checks the sender's token.
func (d *Device) sentBy(r *http.Request) (c Claims, err error) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "vapid t=")
	token, public, both := strings.Cut(text, ", k=")
	if !ok || !both || d.sender != "" && public != d.sender {
		return c, errors.New("the sender is not the one that the device subscribed to")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errors.New("the token is none")
	}
	key, errKey := base64.RawURLEncoding.Strict().DecodeString(public)
	signature, errSignature := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	claims, errClaims := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	head, errHead := base64.RawURLEncoding.Strict().DecodeString(parts[0])
	if err := errors.Join(errKey, errSignature, errClaims, errHead); err != nil {
		return c, err
	}
	verifying, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key)
	if err != nil {
		return c, err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if len(signature) != 64 || !ecdsa.Verify(verifying, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return c, errors.New("the token's signature does not fit")
	}
	var kind struct {
		Typ string `json:"typ"`
		Alg string `json:"alg"`
	}
	if err := errors.Join(json.Unmarshal(head, &kind), json.Unmarshal(claims, &c)); err != nil {
		return c, err
	}
	u, err := url.Parse(d.Endpoint)
	left := time.Until(time.Unix(c.Expires, 0))
	if err != nil || kind.Alg != "ES256" || c.Audience != u.Scheme+"://"+u.Host || left <= 0 || left > 24*time.Hour {
		return c, fmt.Errorf("the token's claims do not fit: %s %s", head, claims)
	}
	return c, nil
}

// decrypt reads the one record of an aes128gcm body.
func decrypt(key *ecdh.PrivateKey, auth, body []byte) ([]byte, error) {
	if len(body) < 21+65+17 || body[20] != 65 {
		return nil, errors.New("the header is none of a push")
	}
	salt, size, theirs, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if uint64(len(record)) > uint64(size) {
		return nil, errors.New("it has more than one record")
	}
	public, err := ecdh.P256().NewPublicKey(theirs)
	if err != nil {
		return nil, err
	}
	shared, err := key.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := append([]byte("WebPush: info\x00"), key.PublicKey().Bytes()...)
	ikm := mac(mac(auth, shared), append(info, theirs...), []byte{1})
	prk := mac(salt, ikm)
	block, err := aes.NewCipher(mac(prk, []byte("Content-Encoding: aes128gcm\x00"), []byte{1})[:16])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, mac(prk, []byte("Content-Encoding: nonce\x00"), []byte{1})[:12], record, nil)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(plain), "\x00")
	if !strings.HasSuffix(text, "\x02") {
		return nil, errors.New("the record has no end")
	}
	return []byte(text[:len(text)-1]), nil
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
