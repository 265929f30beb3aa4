package main

// GrantsCmd lists what runs without asking.
type GrantsCmd struct {
	JSON bool `help:"Print JSON: reference, tool, conversation, level, end and giver of each." name:"json"`
	owner
}

// Help is the long help.
func (*GrantsCmd) Help() string {
	return `A yes for minutes or for a run is a grant: that tool passes in that conversation without a question until then. This lists what is open, by whom it was given and until when. It also ends by itself when the conversation gets less trusted than it was. Standing consents, which you give on the page and which hold for days, are listed first.

    $ verifier grants
    $ verifier revoke 7Q4K

In a chat: .grants` + ownerHelp
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

// Help is the long help.
func (*RevokeCmd) Help() string {
	return `From the moment this returns no call passes by the grant any more, on any instance that shares the store; the next such call asks. Each one that ends is in the record.

    $ verifier revoke 7Q4K
    $ verifier revoke --all

In a chat: .revoke 7Q4K, .revoke all` + ownerHelp + answerCodes
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
