package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/server"
)

// chats are the chat services there are, by the name of their section. A new one
// is one line.
var chats = map[string]openChat{
	"discord":  from(discord.Open),
	"slack":    from(slack.Open),
	"telegram": from(telegram.Open),
}

// openChat makes a channel of its section. It calls nobody yet.
type openChat func(section config.Raw, d delivery.Deps) (approval.Channel, error)

// from decodes a section as strictly as the rest of the file, into the channel's
// own type.
func from[C any](open func(C, delivery.Deps) (approval.Channel, error)) openChat {
	return func(section config.Raw, d delivery.Deps) (approval.Channel, error) {
		var c C
		if err := section.Decode(&c); err != nil {
			return nil, err
		}
		return open(c, d)
	}
}

// What a channel may offer besides.
type (
	hooked interface { // takes calls by HTTP; a nil handler takes none
		Hook() (path string, h http.Handler)
	}
	ailing interface { // says what is wrong with it
		Health() error
	}
)

// openChats opens those that the config names and does not switch off.
func openChats(c *config.Config, d delivery.Deps) (map[string]approval.Channel, error) {
	out := make(map[string]approval.Channel)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		open, section := chats[name], c.Channels[name]
		if section.Off() {
			continue
		}
		if open == nil {
			errs = append(errs, &failure{"channels." + name + ": this program has no such channel", "remove the section"})
			continue
		}
		ch, err := open(section, d)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out[name] = ch
	}
	return out, errors.Join(errs...)
}

// checkChats says what is wrong with the sections of the chats.
func checkChats(c *config.Config) error {
	opened, err := openChats(c, delivery.Deps{})
	return errors.Join(err, closeAll(opened))
}

// openChannels adds the chats of the config to the channels that were given.
func (g *gateway) openChannels(s setup) error {
	instance, err := codes.NewID(nil)
	if err != nil {
		return err
	}
	g.channels = maps.Clone(s.channels)
	if g.channels == nil {
		g.channels = make(map[string]approval.Channel)
	}
	opened, err := openChats(s.config, delivery.Deps{Log: s.log, Leases: g.store, Instance: instance})
	maps.Copy(g.channels, opened)
	return err
}

// closeAll lets go of connections.
func closeAll(channels map[string]approval.Channel) error {
	var errs []error
	for name, ch := range channels {
		if c, ok := ch.(io.Closer); ok {
			if err := c.Close(); err != nil {
				errs = append(errs, fmt.Errorf("close %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// hooks are where chat services call us.
func (g *gateway) hooks() map[string]http.Handler {
	out := make(map[string]http.Handler)
	for _, ch := range g.channels {
		if h, ok := ch.(hooked); ok {
			if path, handler := h.Hook(); handler != nil {
				out[path] = handler
			}
		}
	}
	return out
}

// channelHealth is how each channel does. One that fails makes nobody
// unreachable as long as there is another way to ask, so it is only told.
func (g *gateway) channelHealth() []server.Check {
	var out []server.Check
	for _, name := range slices.Sorted(maps.Keys(g.channels)) {
		if a, ok := g.channels[name].(ailing); ok {
			out = append(out, server.Check{Name: name, Err: a.Health(), Told: true})
		}
	}
	return out
}
