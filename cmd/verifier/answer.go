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
	Ref   string   `json:"ref"`
	Tools []string `json:"tools"`
	Full  bool     `json:"full"` // the short text shows all that will run
	Short string   `json:"short"`
	Text  string   `json:"text"`

	// What a key carries, so that it is taken like a button.
	Once   string `json:"once"`
	Longer string `json:"longer"`
	Deny   string `json:"deny"`

	Entries []waitingCard `json:"entries"` // of a list: each call that waits, by itself
	Entry   int           `json:"entry"`   // of one of these: its number on the list

	tooLong bool // the screen has no room for it
}

// name tells questions apart: those of a list share its reference.
func (c *waitingCard) name() string { return c.Ref + c.Once }

// each gives a list's calls one by one, and another card as it is.
func each(cards []waitingCard) (out []waitingCard) {
	for _, c := range cards {
		if len(c.Entries) == 0 {
			c.Entries = []waitingCard{c}
		}
		out = append(out, c.Entries...)
	}
	return out
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
	Like    bool   `json:"like,omitzero"`
	Exactly bool   `json:"exactly,omitzero"`
	Reason  string `json:"reason,omitzero"`
	With    string `json:"with,omitzero"`
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
	Tool    string `help:"Which tool, where the card lists several; all for every one." placeholder:"NAME"`
	Minutes int    `help:"Let this tool pass in this conversation for so many minutes; of a tool that runs commands, only commands that do the same." xor:"scope" placeholder:"N"`
	Turn    bool   `help:"The same until the agent's run ends." xor:"scope"`
	Exactly bool   `help:"Let exactly this call pass again, for 30 minutes unless you say otherwise."`
	Like    bool   `help:"Let only calls like it pass, to the same destination. The first time this says what that would cover, the second time it allows it."`
	With    string `help:"Let it run once with these arguments instead: a JSON object, or the name of a file that holds one behind an @. The first time this says what that changes, the second time it allows it." placeholder:"JSON"`
	owner
}

// Validate refuses what the server would.
func (c *ApproveCmd) Validate() error {
	switch {
	case c.Minutes < 0:
		return &failure{text: "--minutes must be at least 1"}
	case c.Like && c.Exactly:
		return &failure{text: "--like and --exactly don't go together"}
	case c.Like && c.Turn:
		return &failure{text: "--like and --turn don't go together: a yes to calls like it is for minutes"}
	case c.With != "" && (c.Like || c.Exactly || c.Turn || c.Minutes > 0):
		return &failure{text: "--with allows one call, once: it goes with no other scope"}
	}
	return nil
}

// Run approves.
func (c *ApproveCmd) Run(a *app) error {
	with, err := c.with()
	if err != nil {
		return err
	}
	return c.answer(a, answerPath, reply{Ref: c.Ref, Tool: c.Tool, Allow: true, Minutes: c.Minutes, Turn: c.Turn, Like: c.Like, Exactly: c.Exactly, With: with})
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
