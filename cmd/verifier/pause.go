package main

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
