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

// Help is the long help.
func (*AwayCmd) Help() string {
	return `You are not asked until then. Other approvers are; if too few of those who may allow a call are there, it is denied at once, and the agent reads when to ask again. The approver you name gets no right by it: they decide what they may answer already. A day ends at midnight in the zone of your quiet hours, else of the server.

    $ verifier away --until friday --decides bob

In a chat: .away until friday bob` + ownerHelp + answerCodes
}

// Run says so.
func (c *AwayCmd) Run(a *app) error {
	return c.say(a, ".away until", strings.TrimSpace(c.Until+" "+c.Decides))
}

// BackCmd ends it.
type BackCmd struct{ owner }

// Help is the long help.
func (*BackCmd) Help() string {
	return `You are asked again. Quiet hours in the config hold as before.

In a chat: .back` + ownerHelp + answerCodes
}

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

// Help is the long help.
func (*MuteCmd) Help() string {
	return `What would ask you is denied without a question, on every instance that shares the store. What passes without a question still does: "verifier pause" stops that, too. Questions that are open stay open.

    $ verifier mute --agent main
    $ verifier mute --session 1A2B3C4D --minutes 30

In a chat: .mute main, .mute in 1A2B3C4D 30` + ownerHelp + answerCodes
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

// Help is the long help.
func (*UnmuteCmd) Help() string {
	return `Ends what "verifier mute" began; without an agent or a conversation, all of it.

In a chat: .unmute, .unmute main, .unmute in 1A2B3C4D` + ownerHelp + answerCodes
}

// Run ends it.
func (c *UnmuteCmd) Run(a *app) error { return c.say(a, ".unmute", mutes(c.Agent, c.Session)) }
