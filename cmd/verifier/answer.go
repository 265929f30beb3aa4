package main

import (
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// PendingCmd lists what waits.
type PendingCmd struct {
	Ref  string `arg:"" optional:"" help:"Only the card with this reference, with nothing left out."`
	JSON bool   `help:"Print the answer as it came: reference, tools, conversation, text and end of each." name:"json"`
	owner
}

// waiting is what the server says of what waits.
type waiting struct {
	Paused string        `json:"paused"`
	Cards  []waitingCard `json:"cards"`
}

// waitingCard is one question.
type waitingCard struct {
	Ref   string `json:"ref"`
	Full  bool   `json:"full"` // the short text shows all that will run
	Short string `json:"short"`
	Text  string `json:"text"`

	// What a key carries, so that it is taken like a button.
	Once   string `json:"once"`
	Longer string `json:"longer"`
	Deny   string `json:"deny"`

	tooLong bool // the screen has no room for it
}

// Run lists.
func (c *PendingCmd) Run(a *app) error {
	path := pendingPath
	if c.Ref != "" {
		path += "?ref=" + url.QueryEscape(c.Ref)
	}
	if c.JSON {
		return c.print(a, path)
	}
	var out waiting
	if err := c.ask(a, http.MethodGet, path, nil, &out); err != nil {
		return err
	}
	if out.Paused != "" {
		a.printf("%s\n", block(out.Paused))
	}
	switch {
	case len(out.Cards) == 0 && c.Ref != "":
		return &failure{text: "no open question has the reference " + strconv.Quote(c.Ref), hint: "`verifier pending` lists them"}
	case len(out.Cards) == 0:
		a.printf("Nothing waits.\n")
	}
	for i, card := range out.Cards {
		if i > 0 {
			a.printf("\n")
		}
		if c.Ref == "" {
			card.Text = card.Short
		}
		a.printf("%s\n", block(card.Text))
	}
	return nil
}

// reply is the body of an answer to a card.
type reply struct {
	Ref     string `json:"ref"`
	Tool    string `json:"tool,omitzero"`
	Allow   bool   `json:"allow"`
	Minutes int    `json:"minutes,omitzero"`
	Turn    bool   `json:"turn,omitzero"`
	Same    bool   `json:"same,omitzero"`
	Exactly bool   `json:"exactly,omitzero"`
	Reason  string `json:"reason,omitzero"`
	With    string `json:"with,omitzero"`
	Confirm string `json:"confirm,omitzero"`
	Handle  string `json:"handle,omitzero"`
}

const (
	pendingPath = "/owner/pending"

	answerPath = "/owner/answer"
	replyPath  = "/owner/reply"
)

// ApproveCmd says yes.
type ApproveCmd struct {
	Ref     string `arg:"" help:"The card's reference, as pending shows it."`
	Tool    string `help:"The tool that you mean: with another one on the card, nothing is allowed." placeholder:"NAME"`
	Minutes int    `help:"Let this tool pass in this conversation for so many minutes." xor:"scope" placeholder:"N"`
	Turn    bool   `help:"The same until the agent's run ends." xor:"scope"`
	Exactly bool   `help:"Let only exactly this call pass again, for 30 minutes unless you say otherwise." xor:"target"`
	Same    bool   `help:"Let only calls to the same recipients pass, for 30 minutes if not said." xor:"target"`
	With    string `help:"Say what other arguments would change: a JSON object, or @FILE. Allows with --confirm." placeholder:"JSON"`
	Confirm string `help:"With --with: what it printed, when you have read what changes." placeholder:"WORD"`
	owner
}

// Validate refuses what the server would.
func (c *ApproveCmd) Validate() error {
	switch {
	case c.Minutes < 0:
		return &failure{text: "--minutes must be at least 1"}
	case c.With != "" && (c.Same || c.Exactly || c.Turn || c.Minutes > 0):
		return &failure{text: "--with allows one call, once: it goes with no other scope"}
	case c.Confirm != "" && c.With == "":
		return &failure{text: "--confirm goes with --with"}
	}
	return nil
}

// Run approves.
func (c *ApproveCmd) Run(a *app) error {
	with, err := c.with()
	if err != nil {
		return err
	}
	return c.answer(a, answerPath, reply{
		Ref: c.Ref, Tool: c.Tool, Allow: true, Minutes: c.Minutes, Turn: c.Turn, Same: c.Same, Exactly: c.Exactly,
		With: with, Confirm: c.Confirm,
	})
}

// with are the arguments that the call is to run with instead; "": its own.
func (c *ApproveCmd) with() (string, error) {
	name, isFile := strings.CutPrefix(c.With, "@")
	if !isFile {
		return c.With, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", &failure{text: "the file with the arguments can't be read: " + err.Error()}
	}
	return string(text), nil
}

// DenyCmd says no.
type DenyCmd struct {
	Ref    string `arg:"" help:"The card's reference, as pending shows it."`
	Reason string `help:"Why. The agent reads it." placeholder:"TEXT"`
	owner
}

// Run denies.
func (c *DenyCmd) Run(a *app) error {
	return c.answer(a, answerPath, reply{Ref: c.Ref, Reason: c.Reason})
}

// ReplyCmd passes on a typed line.
type ReplyCmd struct {
	Text string `arg:"" help:"The line, in quotes."`
	owner
}

// Run replies.
func (c *ReplyCmd) Run(a *app) error {
	return c.say(a, c.Text, "")
}
