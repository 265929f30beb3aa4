package redis

import (
	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
)

// StateKey lets a test make a conversation vanish.
func StateKey(c session.Conversation) string { return bucketKey(c, "s:"+c.Hash()) }

// EpochKey is where the marker of a conversation's bucket stands.
func EpochKey(c session.Conversation) string { return bucketKey(c, "epoch") }

func bucketKey(c session.Conversation, name string) string {
	return keyOf(store.Key(c.Hash()[:2] + ":" + name))
}

// ParseURL reads a store URL as Open does.
func ParseURL(text string) (*goredis.UniversalOptions, int, error) { return parseURL(text) }
