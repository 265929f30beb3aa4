package approval

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestTool is what a test question is called in the record, as its client and as its tool. A call of an agent may have the same name: only
// [Ask.Test], which the server seals, makes a question a test.
const TestTool = "test question"

// maxTests is how many test questions all people together may send within an hour.
const maxTests = 6

// testNote is what the record says of a test question.
const testNote = "A test question. Nothing runs, whatever the answer is."

// AskTest puts a question to people that is about no call, at an approver's word. It goes the way of every question: it is recorded, shown
// in every chat and on the page, and answered by the same buttons. A yes to it lets nothing pass.
func (as *asker) AskTest(ctx context.Context, a Answer) (Outcome, error) {
	person, listed := as.terms().people[a.ID]
	if !listed {
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	}
	cards, now, err := as.Waiting(ctx)
	if slices.ContainsFunc(cards, func(c *Card) bool { return c.Questions[0].Ask.Test }) {
		return Outcome{Kind: Replied, Text: "A test question waits already."}, nil
	}
	random, errRandom := codes.NewID(as.o.Rand)
	if err := cmp.Or(err, errRandom); err != nil {
		return Outcome{Text: "The test question could not be sent. Try again."}, err
	}
	sent, err := as.o.Store.Count(ctx, "test-question", window, true)
	switch {
	case err != nil:
		return Outcome{Text: "The test question could not be sent. Try again."}, err
	case sent > maxTests:
		return Outcome{Text: "You can send six test questions an hour. Try again later."}, nil
	}
	r := &Request{ID: "test-" + random, Now: now, Ask: Ask{
		Test: true, Tool: TestTool, Conversation: session.Conversation{Client: TestTool}, Digest: random + random, Level: taint.Owner, Rule: "test",
		Why: []string{testNote}, Reasons: []string{"You asked for a test question."}, Started: person + " asked for it (" + a.Via + ")", Shown: jsontext.Value("{}"), Approvals: 1,
	}}
	_, err = as.o.Store.Admit(ctx, session.Admission{Conversation: r.Ask.Conversation, RequestID: r.ID, Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Keep: time.Minute})
	if err == nil {
		_, err = as.presentInTime(ctx, r)
	}
	switch {
	case errors.Is(err, ErrNobody):
		return Outcome{Text: "The test question could not be sent. Run `verifier test`: it says which channel fails."}, err
	case err != nil:
		return Outcome{Text: "The test question could not be sent. The log says why."}, err
	}
	return Outcome{Kind: Replied, Text: "The test question was sent to every place where you are asked."}, nil
}
