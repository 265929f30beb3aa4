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

// Run vouches.
func (c *EndorseCmd) Run(a *app) error {
	return c.say(a, ".endorse", fmt.Sprint(c.Session, " ", c.Source))
}

// DistrustCmd takes it back.
type DistrustCmd struct{ sourceArgs }

// Run distrusts.
func (c *DistrustCmd) Run(a *app) error {
	return c.say(a, ".distrust", fmt.Sprint(c.Session, " ", c.Source))
}
