package main

// PauseCmd stops an agent, or all.
type PauseCmd struct {
	Agent string `help:"Only this agent, by its id. Without it: all agents." placeholder:"ID"`
	owner
}

// Help is the long help.
func (*PauseCmd) Help() string {
	return `From the moment this returns, every call is denied but those of harmless tools, on every instance that shares the store, whatever the policy says and even if someone has approved it. Calls that wait are denied, too. It lasts until "verifier resume", across restarts.

    $ verifier pause
    $ verifier pause --agent main

In a chat: .pause, .pause main` + ownerHelp + answerCodes
}

// Run pauses.
func (c *PauseCmd) Run(a *app) error { return c.say(a, ".pause", c.Agent) }

// ResumeCmd lifts it.
type ResumeCmd struct {
	Agent string `help:"Only this agent, by its id. Without it: all agents, and every pause there is." placeholder:"ID"`
	owner
}

// Help is the long help.
func (*ResumeCmd) Help() string {
	return `Ends what "verifier pause" began. An agent that may not ask because it has asked too often this hour may ask again.

    $ verifier resume
    $ verifier resume --agent main

In a chat: .resume, .resume main` + ownerHelp + answerCodes
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
