package approval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Terminal is the way to ask that needs no chat: people look at what waits by
// themselves.
const Terminal = "terminal"

// Agent says who may answer what one agent asks, and where it is put.
type Agent struct {
	// Approvers may answer, by name. Nil means every approver.
	Approvers []string `yaml:"approvers"`
	// Channels are where it is put, by name. Nil means all of them.
	Channels []string `yaml:"channels"`
}

// bind fixes in a question who may answer it, and where it is put: the seal over it keeps anyone who writes to the
// store from asking others. A call that names no agent could be any agent's: only those may answer it who may answer
// for each of them, so that leaving the field out sheds nothing.
func (t *terms) bind(a *Ask) {
	a.Approvals, a.Approvers, a.Channels = t.Approvals, nil, nil
	for _, id := range slices.Sorted(maps.Keys(t.Agents)) {
		agent := t.Agents[id]
		if a.Agent != "" && !strings.EqualFold(id, a.Agent) {
			continue
		}
		if a.Approvers == nil {
			a.Approvers = slices.Clone(agent.Approvers)
		} else if agent.Approvers != nil {
			a.Approvers = slices.DeleteFunc(a.Approvers, func(name string) bool {
				return !slices.Contains(agent.Approvers, name)
			})
		}
		if a.Agent != "" && a.Channels == nil {
			a.Channels = agent.Channels
		}
	}
	t.nameStarter(a)
}

// nameStarter says on the card who started the run. All that is known of them
// is what the client attests.
func (t *terms) nameStarter(a *Ask) {
	for _, id := range a.Senders {
		name := t.people[id]
		if name == "" {
			continue
		}
		a.Started += fmt.Sprintf(" (%s, %s)", name, id)
		return
	}
	if len(a.Senders) > 0 {
		a.Started += a.stranger(a.Senders[0])
	}
}

// stranger is somebody unknown as a card may name them. Both parts are the
// client's words: what is no name of a platform is not repeated.
func (a *Ask) stranger(id string) string {
	platform, who, _ := strings.Cut(id, ":")
	if platform == "" || len(platform) > 20 || strings.Trim(platform, "abcdefghijklmnopqrstuvwxyz-_") != "" {
		return ""
	}
	return " (" + platform + ":" + a.Name(who) + ")"
}

// sameWay reports whether two questions go to the same people in the same places, so that they can share a card.
func sameWay(a, b *Ask) bool {
	return a.Approvals == b.Approvals && slices.Equal(a.Approvers, b.Approvers) && slices.Equal(a.Channels, b.Channels)
}

// admits reports whether a person is among those who may answer. An empty list that is there admits no one.
func (a *Ask) admits(person string) bool {
	return a.Approvers == nil || slices.Contains(a.Approvers, person)
}

// bars reports whether a person's answer may not count, and tells them why.
func (a *Ask) bars(person string) (why string, barred bool) {
	if a.admits(person) {
		return "", false
	}
	goes := "It goes to " + strings.Join(a.Approvers, peopleBetween) + "."
	if len(a.Approvers) == 0 {
		goes = "No one may: the config lists no approver who answers for every agent."
	}
	return fmt.Sprintf("%s, you may not answer this question about %s. %s", person, quote(a.Tool), goes), true
}

// enough reports whether as many people are listed as the question needs.
func (t *terms) enough(a *Ask) bool {
	able := make(map[string]bool)
	for _, name := range t.people {
		if a.admits(name) {
			able[name] = true
		}
	}
	return len(able) >= max(a.Approvals, 1)
}
