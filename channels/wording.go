package channels

import (
	"fmt"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/taint"
)

// The sentences of a card, in one place, so that all channels say the same.
const (
	notAllVisible = "NOT FULLY VISIBLE: "
	nothingSaid   = "The agent's software didn't send us what you asked for."
	youAsked      = "You asked:"
	blockedAction = "Caution: blocked an action that did not match your request:"
	blockedUnseen = "Caution: blocked an action because the auditor gave no answer:"
	blockedHint   = "The agent was refused and goes on without it. If you did want it, allow it this once: it passes when the agent tries again."
	beforeThat    = "Before that you said:"
	notRead       = "Your config hides what this call writes to files. You can allow it after you have read it: open it while the agent waits. It is shown then, and the record says so."
	noArguments   = "(no arguments)"
	noSessionKey  = "(no session key)"
)

func cutMark(n int) string {
	return fmt.Sprintf("%s… %s not shown …%s", open, approval.Count(n, "character", "characters"), shut)
}

// blankMark takes the place of white space. It says whether there are line breaks in
// it: in a shell, another command follows.
func blankMark(s string) string {
	kinds := "spaces and tabs"
	if strings.Contains(s, "\n") {
		kinds = "spaces, tabs and newlines"
	}
	return fmt.Sprintf("%s… %d %s not shown …%s", open, len(s), kinds, shut)
}

// timeLeft says how long a card can still be answered.
func timeLeft(until, now time.Time) string {
	left := until.Sub(now)
	clock := until.In(now.Location()).Format("15:04 MST")
	if left <= 0 {
		return "expired at " + clock
	}
	return fmt.Sprintf("%s left, until %s", span(left), clock)
}

// span rounds down: a promise of time must hold.
func span(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
}

// levels say what a level means to someone who has not read the manual.
var levels = [taint.Levels]string{
	taint.System:    "the agent's own configuration or attested automation",
	taint.Owner:     "your own words",
	taint.Local:     "it has read what local tools returned",
	taint.Shared:    "it has read what groups or other agents wrote",
	taint.External:  "it has read what people other than you wrote",
	taint.Untrusted: "it has read the web or what strangers wrote",
}

func levelText(l taint.Level) string {
	if !l.Valid() {
		return "unknown, so not trusted"
	}
	return fmt.Sprintf("%s (%s)", l, levels[l])
}

// Reasons says, one sentence for each, what can't be seen as it is.
func (v Visibility) Reasons() []string {
	var out []string
	add := func(n int, one, many string) {
		if n > 0 {
			out = append(out, approval.Count(n, one, many))
		}
	}
	add(v.Hidden, "value is hidden", "values are hidden")
	add(v.Cut, "character is not shown", "characters are not shown")
	add(v.Escaped, "invisible or misleading character is shown by its number", "invisible or misleading characters are shown by their numbers")
	add(v.Lookalike, "look-alike letter is shown by its number", "look-alike letters are shown by their numbers")
	add(v.Collapsed, "run of white space is shortened", "runs of white space are shortened")
	add(v.RightToLeft, "right-to-left letter may change the order on the screen", "right-to-left letters may change the order on the screen")
	return out
}

// onlyOnce says why a call can be allowed once only; empty if it can be allowed
// for longer.
func onlyOnce(a *approval.Ask, v Visibility) string {
	switch {
	case a.HeldOnly:
		return "Only while the agent waits: its side hid arguments, so a late yes would release something unseen."
	case !a.Conversation.Lasting():
		return "Only once: without a session key a longer yes would cover strangers' calls."
	case !v.Full():
		return "Only once: not all of this call can be seen."
	case !a.Lasting:
		return "Only once: calls like this one are asked about each time."
	}
	return ""
}

func lookalikeWarning(name string) string {
	with := "invisible characters"
	if found := alphabets(name); len(found) > 0 {
		with = strings.Join(found, " and ") + " letters"
	}
	return "LOOK-ALIKE: written with " + with + ", it can pass for another tool."
}
