package redis

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/session"
)

const (
	buckets     = 256
	wakeChannel = "v1:wake"
)

// place is where a conversation's keys stand: its bucket and its hash.
type place struct{ prefix, hash string }

// placeOf is the place of the conversation with this ID.
func placeOf(id [16]byte) place {
	hash := hex.EncodeToString(id[:])
	return place{prefix: bucketPrefix(hash[:2]), hash: hash}
}

func bucketPrefix(bucket string) string { return "v1:{" + bucket + "}:" }

// bucketName is the tag of the n-th bucket.
func bucketName(n int) string { return hex.EncodeToString([]byte{byte(n)}) } //nolint:gosec // below 256

func epochKey(bucket string) string { return bucketPrefix(bucket) + "epoch" }

func (p place) bucket() string           { return p.hash[:2] }
func (p place) state() string            { return p.prefix + "s:" + p.hash }
func (p place) known() string            { return p.prefix + "known" }
func (p place) epoch() string            { return p.prefix + "epoch" }
func (p place) grants() string           { return p.prefix + "g:" + p.hash }
func (p place) granted() string          { return p.prefix + "granted" }
func (p place) questions() string        { return p.prefix + "q:" + p.hash }
func (p place) open() string             { return p.prefix + "open" }
func (p place) pauses() string           { return p.prefix + "pauses" }
func (p place) request(id string) string { return p.prefix + "r:" + p.hash + ":" + id }
func (p place) run(name string) string   { return p.prefix + "n:" + p.hash + ":" + name }
func (p place) card(id string) string    { return p.prefix + "k:" + id }

// keys are the first five of every script that begins with state.lua.
func (p place) keys(more ...string) []string {
	return append([]string{p.state(), p.known(), p.epoch(), p.grants(), p.questions()}, more...)
}

// cardKey finds a card by its id alone: it begins with its bucket.
func cardKey(id string) (string, bool) {
	if len(id) < 2 || !isHex(id[:2]) {
		return "", false
	}
	return bucketPrefix(id[:2]) + "k:" + id, true
}

// automationKeys are an agent's floor and the epoch marker beside it.
func automationKeys(client, agent string) (bucket string, keys []string) {
	sum := sha256.Sum256([]byte("automation\x00" + client + "\x00" + agent))
	h := hex.EncodeToString(sum[:16])
	return h[:2], []string{bucketPrefix(h[:2]) + "auto:" + h, epochKey(h[:2])}
}

func isHex(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) < 0
}

// nameOf writes a conversation so that it can be read back whatever it is called.
func nameOf(c session.Conversation) string { return string(appendName(nil, c)) }

func appendName(to []byte, c session.Conversation) []byte {
	to = append(strconv.AppendInt(to, int64(len(c.Client)), 10), ':')
	return append(append(to, c.Client...), c.Key...)
}

var errName = errors.New("redis: a stored conversation has a damaged name")

func parseName(s string) (session.Conversation, error) {
	length, rest, found := strings.Cut(s, ":")
	n, err := strconv.Atoi(length)
	if !found || err != nil || n < 0 || n > len(rest) {
		return session.Conversation{}, fmt.Errorf("%w: %q", errName, s)
	}
	return session.Conversation{Client: rest[:n], Key: rest[n:]}, nil
}
