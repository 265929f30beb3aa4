package main

import (
	"net/url"
)

// PauseCmd stops an agent, or all.
type PauseCmd struct {
	Agent string `help:"Only this agent, by its id. Without it: all agents." placeholder:"ID"`
	owner
}

// Run pauses.
func (c *PauseCmd) Run(a *app) error { return c.say(a, ".pause", c.Agent) }

// ResumeCmd lifts it.
type ResumeCmd struct {
	Agent string `help:"Only this agent, by its id. Without it: all agents, and every pause there is." placeholder:"ID"`
	owner
}

// Run resumes.
func (c *ResumeCmd) Run(a *app) error { return c.say(a, ".resume", c.Agent) }

// say sends a typed line.
func (o *owner) say(a *app, word, agent string) error {
	if agent != "" {
		word += " " + agent
	}
	return o.answer(a, replyPath, struct {
		Text string `json:"text"`
	}{word})
}

// GrantsCmd lists what runs without asking.
type GrantsCmd struct {
	JSON bool `help:"Print JSON: reference, tool, conversation, level, end and giver of each." name:"json"`
	owner
}

// Run lists.
func (c *GrantsCmd) Run(a *app) error {
	if c.JSON {
		return c.print(a, "/owner/grants")
	}
	return c.say(a, ".grants", "")
}

// RevokeCmd ends grants.
type RevokeCmd struct {
	Ref string `arg:"" optional:"" help:"The reference of the card it was given on, as grants shows it." xor:"what"`
	All bool   `help:"All grants that are open." xor:"what"`
	owner
}

// Validate wants to know which.
func (c *RevokeCmd) Validate() error {
	if c.Ref == "" && !c.All {
		return &failure{text: "say which grant: its reference, or --all"}
	}
	return nil
}

// Run revokes.
func (c *RevokeCmd) Run(a *app) error {
	if c.All {
		return c.say(a, ".revoke", "all")
	}
	return c.say(a, ".revoke", c.Ref)
}

// SourcesCmd lists what came into a conversation.
type SourcesCmd struct {
	Session string `arg:"" help:"The conversation's reference, as cards show it."`
	JSON    bool   `help:"Print JSON: what made the conversation worse, to which level and when." name:"json"`
	owner
}

// Run lists.
func (c *SourcesCmd) Run(a *app) error {
	if c.JSON {
		return c.print(a, "/owner/sources?ref="+url.QueryEscape(c.Session))
	}
	return c.say(a, ".sources", c.Session)
}
