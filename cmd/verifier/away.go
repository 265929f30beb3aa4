package main

import (
	"fmt"
	"strings"
)

// AwayCmd says that the owner is not to be asked for a while.
type AwayCmd struct {
	Until   string `help:"Until when: a day of the week, tomorrow, 2026-11-20, 18:30, 90m, 3h, 2d." required:"" placeholder:"WHEN"`
	Decides string `help:"The approver who decides meanwhile, by name." placeholder:"NAME"`
	owner
}

// Run says so.
func (c *AwayCmd) Run(a *app) error {
	return c.say(a, ".away until", strings.TrimSpace(c.Until+" "+c.Decides))
}

// BackCmd ends it.
type BackCmd struct{ owner }

// Run says so.
func (c *BackCmd) Run(a *app) error { return c.say(a, ".back", "") }

// mutes is what a mute is about, as it is typed.
func mutes(agent, session string) string {
	if session != "" {
		return "in " + session
	}
	return agent
}

// MuteCmd ends the questions about an agent or a conversation for a while.
type MuteCmd struct {
	Agent   string `help:"This agent, by its id." required:"" xor:"muted" placeholder:"ID"`
	Session string `help:"This conversation, by its reference." required:"" xor:"muted" placeholder:"REF"`
	Minutes int    `help:"For how long, a day at most." default:"60"`
	owner
}

// Run mutes.
func (c *MuteCmd) Run(a *app) error {
	return c.say(a, ".mute", mutes(c.Agent, c.Session)+fmt.Sprint(" ", c.Minutes))
}

// UnmuteCmd ends that.
type UnmuteCmd struct {
	Agent   string `help:"This agent, by its id." xor:"muted" placeholder:"ID"`
	Session string `help:"This conversation, by its reference." xor:"muted" placeholder:"REF"`
	owner
}

// Run ends it.
func (c *UnmuteCmd) Run(a *app) error { return c.say(a, ".unmute", mutes(c.Agent, c.Session)) }
