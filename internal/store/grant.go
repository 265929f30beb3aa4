package store

import (
	"context"
	"strings"
	"time"
)

// Always names the conversation that keeps the grants of an agent that count in all of them. No call comes from it: a
// session key has no control character.
func Always(client, agent string) Name {
	return Name{Client: client, Key: always + strings.ToLower(agent)}
}

const always = "\x01always "

// Grants are all that hold, with their conversations, and the time.
func (s *Store) Grants(ctx context.Context) ([]Given, time.Time, error) {
	return ofListed(ctx, s.engine, func(t *Tx, name string) (all []Given) {
		key, isKey := strings.CutPrefix(name, ofKey)
		if !isKey {
			return nil
		}
		in, isAlways := Name{t.client, key}, strings.HasPrefix(key, always)
		for _, g := range conversation(t, in, false).Grants {
			of := pick(isAlways, Name{Client: t.client}, in)
			all = append(all, Given{Grant: g, Conversation: of, Always: isAlways})
		}
		return all
	})
}
