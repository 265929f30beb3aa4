package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/web"
)

// builtin are the chat services there are. A new one is one line: nothing else
// in the program knows their names.
var builtin = chats{
	chatOf(telegram.Platform(), telegram.Open),
	chatOf(discord.Platform(), discord.Open),
	chatOf(slack.Platform(), slack.Open),
}

// chats are chat services, in the order in which help and hints name them.
type chats []chat

// chat is one: how it knows its users, and how its section becomes a channel,
// which makes no calls yet.
type chat struct {
	approval.Platform
	open func(section config.Raw, d delivery.Deps) (approval.Channel, error)
}

// chatOf decodes a section as strictly as the rest of the file, into the
// channel's own type.
func chatOf[C any](p approval.Platform, open func(C, delivery.Deps) (approval.Channel, error)) chat {
	return chat{p, func(section config.Raw, d delivery.Deps) (approval.Channel, error) {
		var c C
		if err := section.Decode(&c); err != nil {
			return nil, err
		}
		return open(c, d)
	}}
}

// platforms are what the config needs to know of them.
func (all chats) platforms() []approval.Platform {
	out := make([]approval.Platform, len(all))
	for i, c := range all {
		out[i] = c.Platform
	}
	return out
}

// ailing is a channel that says what is wrong with it.
type ailing interface {
	Health() error
}

// open opens those that the config names and does not switch off.
func (all chats) open(c *config.Config, d delivery.Deps) (map[string]approval.Channel, error) {
	out := make(map[string]approval.Channel)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		section := c.Channels[name]
		if section.Off() {
			continue
		}
		i := slices.IndexFunc(all, func(c chat) bool { return c.Name == name })
		if i < 0 {
			errs = append(errs, &failure{"channels." + name + ": this program has no such channel", "remove the section"})
			continue
		}
		ch, err := all[i].open(section, d)
		if _, placed := errors.AsType[config.Errors](err); err != nil && !placed {
			err = section.Wrong(err.Error(), "docs/channels.md says what it needs; without the section, `verifier setup "+name+"` writes one")
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out[name] = ch
	}
	return out, errors.Join(errs...)
}

// check says what is wrong with the sections of the chats.
func (all chats) check(c *config.Config) error {
	opened, err := all.open(c, delivery.Deps{})
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
	opened, err := s.chats.open(s.config, delivery.Deps{Log: s.log, Leases: g.store, Instance: instance, Page: cardsAt(&s.config.Web)})
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

// channelHealth is how each channel does. While there is another way to ask,
// people can be reached without one that fails, so it does not make the server unready.
func (g *gateway) channelHealth() []server.Check {
	var out []server.Check
	for _, name := range slices.Sorted(maps.Keys(g.channels)) {
		if a, ok := g.channels[name].(ailing); ok {
			out = append(out, server.Check{Name: name, Err: a.Health(), Informational: true})
		}
	}
	return out
}

// cardsAt is what the address of a card on the owner's page begins with, where the config says where people open the page.
func cardsAt(w *config.Web) string {
	at := w.Address()
	if at == nil || !w.Enabled {
		return ""
	}
	return strings.TrimSuffix(at.String(), "/") + web.Root + "cards/"
}
