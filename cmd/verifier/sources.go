package main

import (
	"fmt"
	"net/url"
)

// SourcesCmd lists what came into a conversation.
type SourcesCmd struct {
	Session string `arg:"" optional:"" help:"The conversation's reference, as cards show it. Without one: the scheduled jobs that come from outside content."`
	JSON    bool   `help:"Print JSON: number, name, level and times of each source of the conversation, or of each job." name:"json"`
	owner
}

// Help is the long help.
func (*SourcesCmd) Help() string {
	return `A conversation is trusted as little as the worst of what came into it: a page that the agent fetched, a mail that it read, a person who wrote. This lists them by number, with the level of each and since when. You can vouch for what a tool read, but not for people who wrote.

    $ verifier sources 1A2B3C4D
    $ verifier endorse 1A2B3C4D 3

A job that your agent scheduled, or changed, in a conversation with outside content in it runs as untrusted as that conversation was. Without a reference this lists those jobs; you may vouch for one, and removing the job in your agent's software removes it here.

    $ verifier sources

In a chat: .sources 1A2B3C4D` + ownerHelp + answerCodes
}

// Run lists.
func (c *SourcesCmd) Run(a *app) error {
	if c.JSON {
		return c.print(a, "/owner/sources?ref="+url.QueryEscape(c.Session))
	}
	return c.say(a, ".sources", c.Session)
}

// sourceArgs say which source of which conversation is meant.
type sourceArgs struct {
	Session string `arg:"" help:"The conversation's reference, as cards show it."`
	Source  uint32 `arg:"" help:"The source's number, as sources shows it."`
	owner
}

// EndorseCmd vouches for a source.
type EndorseCmd struct{ sourceArgs }

// Help is the long help.
func (*EndorseCmd) Help() string {
	return `What this source has brought into this conversation until now no longer counts against it; the level is what the other sources make it. Grants in the conversation end. What it brings later counts again, since a page can change. The record keeps your endorsement, with your name. The profile strict refuses it.

    $ verifier endorse 1A2B3C4D 3
    $ verifier distrust 1A2B3C4D 3

For a place that you always trust write a rule: trust.rules in the config. In a chat: .endorse 1A2B3C4D 3` + ownerHelp + answerCodes
}

// Run vouches.
func (c *EndorseCmd) Run(a *app) error {
	return c.say(a, ".endorse", fmt.Sprint(c.Session, " ", c.Source))
}

// DistrustCmd takes it back.
type DistrustCmd struct{ sourceArgs }

// Help is the long help.
func (*DistrustCmd) Help() string {
	return `The source counts again, as if you had never vouched for it.

    $ verifier distrust 1A2B3C4D 3

In a chat: .distrust 1A2B3C4D 3` + ownerHelp + answerCodes
}

// Run distrusts.
func (c *DistrustCmd) Run(a *app) error {
	return c.say(a, ".distrust", fmt.Sprint(c.Session, " ", c.Source))
}
