package approval

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
)

// likes says what a yes to calls like one would cover.
type likes struct {
	*cardStore

	previews *previews
}

// LikePreview is what a yes to calls like one would cover, and what it would have
// covered of the answers that were given in the conversation before.
type LikePreview struct {
	Tool    string
	Targets []string // where the calls go, an argument each; foreign text
	Minutes int
	Level   string // it holds while the level is no worse

	Answers int // that were given in this conversation and are remembered
	Allowed int // of them, those about calls like it that people allowed
	Denied  int // and those that they denied: a warning
}

// LikePreview is set where it is to be shown, by ShowLikePreview.
func (c *Card) LikePreview() *LikePreview { return c.likely }

// ShowLikePreview lets a card be drawn with what a yes to calls like it would cover.
func (c *Card) ShowLikePreview(l *LikePreview) { c.likely = l }

// String says it in words for people.
func (l *LikePreview) String() string {
	where := make([]string, len(l.Targets))
	for i, w := range l.Targets {
		where[i] = quote(w)
	}
	text := fmt.Sprintf("Allow like this: %s to %s, with whatever else the agent writes, in this conversation for %d minutes, while its level is no worse than %s.",
		quote(l.Tool), strings.Join(where, ", "), l.Minutes, l.Level)
	switch {
	case l.Answers == 0:
		return text + " There are no earlier answers to compare with."
	case l.Denied > 0:
		return text + fmt.Sprintf(" Of the last %d answers here it would have covered %d: %d allowed, %d DENIED.", l.Answers, l.Allowed+l.Denied, l.Allowed, l.Denied)
	}
	return text + fmt.Sprintf(" Of the last %d answers here it would have covered %d, all of them allowed.", l.Answers, l.Allowed)
}

// Bounds of what is remembered of a conversation's answers.
const (
	mostAnswers = 50
	keepAnswers = 7 * 24 * time.Hour
)

// said is one answer, remembered to be compared with.
type said struct {
	Tool   string `json:"tool"`
	Agent  string `json:"agent"`
	Window string `json:"window"`
	Like   string `json:"like,omitzero"`
	Allow  bool   `json:"allow"`
}

func answersOf(c session.Conversation) string { return c.Hash() + ":answers" }

// rememberAnswer keeps what was said to what. It is shown to people and decides
// nothing: where it can't be kept the answer counts all the same.
func (li *likes) rememberAnswer(ctx context.Context, a *Ask, v *Vote) {
	text, err := json.Marshal(said{a.Tool, a.Agent, a.Window, a.Like, v.Allow})
	if err == nil {
		err = li.keepNote(ctx, "answer", session.Note{List: answersOf(a.Conversation), Most: mostAnswers, Keep: keepAnswers}, string(text))
	}
	if err != nil {
		li.o.Log.WarnContext(ctx, "an answer could not be kept to be compared with", "err", err)
	}
}

// likely looks at what a yes to calls like the one on a card would cover; nil if
// it can't be given.
func (li *likes) likely(ctx context.Context, c *Card, minutes int) *LikePreview {
	if len(c.Questions) != 1 || c.Questions[0].Ask.Like == "" || !c.Questions[0].Ask.Lasting {
		return nil
	}
	a := &c.Questions[0].Ask
	if slices.ContainsFunc(a.Targets, func(w string) bool { return utf8.RuneCountInString(w) > maxQuoted }) {
		return nil // what would be shown is less than what it is bound to
	}
	l := &LikePreview{Tool: a.Tool, Targets: a.Targets, Minutes: minutes, Level: a.Level.String()}
	answers, _, err := li.notes(ctx, "answer", answersOf(a.Conversation))
	if err != nil {
		li.o.Log.WarnContext(ctx, "earlier answers could not be read", "err", err)
		return nil // what can't be shown is not offered
	}
	for _, text := range answers {
		var s said
		if json.Unmarshal(text, &s) != nil {
			continue
		}
		l.Answers++
		if s.Tool != a.Tool || s.Agent != a.Agent || s.Window != a.Window || s.Like != a.Like {
			continue
		}
		if s.Allow {
			l.Allowed++
		} else {
			l.Denied++
		}
	}
	return l
}

// PreviewLike says what a yes to calls like the one on a card would cover, by the
// card's short name. It is nil if it can't be given. A person who was shown it
// may give it by an [Answer] with Scope.Like, or by the button of one call of a
// list, which entry names from 1.
func (li *likes) PreviewLike(ctx context.Context, a Answer, entry int) (*LikePreview, error) {
	person, listed := li.terms().people[a.ID]
	if !listed {
		return nil, nil
	}
	id, err := li.byRef(ctx, a.Ref)
	if err != nil || id == "" {
		return nil, err
	}
	c, _, err := li.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if entry > 0 && entry <= len(c.Questions) {
		return li.likely(ctx, c.Entry(entry-1), c.Entry(entry-1).Minutes()), nil
	}
	l := li.likely(ctx, c, li.likeMinutes(a.Scope.Minutes))
	if l != nil {
		li.previews.note(preview(id, person, l.Minutes))
	}
	return l, nil
}

func (li *likes) likeMinutes(want int) int {
	if want <= 0 {
		want = tapMinutes
	}
	return min(want, li.terms().MaxMinutes)
}

// preview is what a person was shown of a card: a yes for longer is another.
func preview(card, person string, minutes int) string {
	return card + "\n" + strconv.Itoa(minutes) + "\n" + person
}

// previews remembers who was shown in this process what a yes to calls like one
// would cover. What is forgotten is shown again.
type previews struct{ recent.Shared[string, bool] }

func (p *previews) note(shown string) { p.Put(shown, true, 1000) }

func (p *previews) has(shown string) bool {
	_, known := p.Get(shown)
	return known
}

// commandOf is the command of params that say nothing else, and otherwise the params.
func commandOf(params string) string {
	var members map[string]string
	if json.Unmarshal([]byte(params), &members) == nil && len(members) == 1 {
		for _, command := range members {
			return command
		}
	}
	return params
}

// LikeOnly says of a grant that it covers only some calls, and which;
// nothing of one that covers them all. It quotes foreign text.
func LikeOnly(g *session.Grant) string {
	switch {
	case g.Like == "":
		return ""
	case g.ShownCall() != "":
		return " only exactly " + quote(commandOf(g.ShownCall()))
	case g.IsExactly():
		return " only exactly the call of " + codes.Ref(g.ID)
	}
	var like struct {
		To [][2]string `json:"to"`
		In string      `json:"in"` // of a standing consent: the directory
	}
	if json.Unmarshal([]byte(g.Destinations()), &like) != nil {
		return " only to one destination"
	}
	var where []string
	for _, pair := range like.To {
		where = append(where, quote(pair[0]+": "+pair[1]))
	}
	text := " only to " + strings.Join(where, ", ")
	if like.In != "" {
		text += " in " + quote(like.In)
	}
	return text
}
