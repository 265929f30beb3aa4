package main

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
