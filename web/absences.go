package web

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// absencesView is who is not asked now, about what no one is, and what the person who looks may say about it.
type absencesView struct {
	approval.Absences
	Days  []awayDay // until which one may be away
	Muted []muteView
}

// awayDay is a day as people read it, and as a typed line names it.
type awayDay struct{ Name, Date string }

// muteView is something that is muted. Its value goes into a typed line; without one, only all mutes together can be ended.
type muteView struct {
	Agent, Talk, TalkHash, By string
	Until                     time.Time
}

func (g *grants) absences(ctx context.Context, m *member) (absencesView, error) {
	now, err := g.o.Rooms.Availability.Now(ctx, m.id())
	if err != nil {
		return absencesView{}, err
	}
	v := absencesView{Absences: now}
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 21, 28, 42, 56} {
		day := g.o.Now().AddDate(0, 0, n)
		v.Days = append(v.Days, awayDay{day.Format("Monday, 2 January"), day.Format(time.DateOnly)})
	}
	for i := range now.Muted {
		mute := &now.Muted[i]
		shown := muteView{TalkHash: mute.Conversation, By: foreign(g.o.Hide(mute.By)), Until: mute.Until}
		if mute.Agent != "" && g.o.Hide(mute.Agent) == mute.Agent {
			shown.Agent = mute.Agent
		}
		if mute.Conversation != "" {
			shown.Talk = mute.Ref()
		}
		v.Muted = append(v.Muted, shown)
	}
	return v, nil
}

// spoken is the line that a button of the page says; empty: there is no such button.
func spoken(value func(string) string) string {
	switch what := value("what"); what {
	case "pause", "resume", "mute", "unmute", "back":
		return strings.TrimSpace("." + what + " " + value("agent"))
	case "away":
		return strings.TrimSpace(".away until " + value("until") + " " + value("decides"))
	}
	return ""
}
