package redis

import (
	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/session"
)

// StateKey lets a test make a conversation vanish.
func StateKey(c session.Conversation) string { return placeOf(c.ID()).state() }

// EpochKey is where the marker of a conversation's bucket stands.
func EpochKey(c session.Conversation) string { return placeOf(c.ID()).epoch() }

// ParseURL reads a store URL as Open does.
func ParseURL(text string) (*goredis.UniversalOptions, int, error) { return parseURL(text) }
