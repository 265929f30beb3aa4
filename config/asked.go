package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/text"
)

// checkAsked refuses what single agents' settings say of who answers, and where.
func (k *checker) checkAsked() {
	for _, id := range sortedKeys(k.Agents) {
		at, a := "agents."+id, k.Agents[id].Asks
		k.notEmpty(at+".channels", a.Channels)
		k.notEmpty(at+".approvers", a.Approvers)
		k.checkWays(at, a.Channels)
		k.checkNames(at, a.Approvers)
		if may := k.answering(&a); k.Approval.Approvals > len(may) && len(k.People()) > 0 {
			k.fail(at+".approvers", fmt.Sprintf("%d people must approve and %d may", k.Approval.Approvals, len(may)), "make approval.approvals smaller, or name more approvers")
		}
	}
}

func (k *checker) notEmpty(at string, list []string) {
	if list != nil && len(list) == 0 {
		k.fail(at, "is empty, so that nobody could be asked", "name what is meant, or remove the key to mean all")
	}
}

// oneOf refuses a name that nothing has.
func (k *checker) oneOf(at, name, what string, known []string) {
	if slices.Contains(known, name) {
		return
	}
	hint := "there are none"
	if near, _ := text.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? There are %s", near, strings.Join(known, ", "))
	}
	k.fail(at, "is no "+what, hint)
}

// checkWays refuses channels that are not there.
func (k *checker) checkWays(at string, names []string) {
	for j, name := range names {
		at := index(at+".channels", j)
		k.oneOf(at, name, "channel", slices.Concat([]string{approval.Terminal}, k.chats.names()))
		_, set := k.Channels[name]
		if _, chat := k.chats.named(name); chat && !set {
			k.fail(at, "is not configured", "add channels."+name+", or take it out here")
		}
	}
}

func (k *checker) checkNames(at string, names []string) {
	known := k.answering(&approval.Agent{}) // every approver
	for j, name := range names {
		k.oneOf(index(at+".approvers", j), name, "approver's name", known)
	}
}

// answering are the names of those who may answer for an agent.
func (k *checker) answering(a *approval.Agent) []string {
	if a.Approvers != nil {
		return a.Approvers
	}
	var all []string
	for _, p := range k.People() {
		all = append(all, p.Name)
	}
	return all
}

// riskyAgents says what in valid settings of single agents may not be meant.
func (k risks) riskyAgents() {
	for _, id := range sortedKeys(k.Agents) {
		at, a := "agents."+id, k.Agents[id].Asks
		k.outOfReach(at+".channels", &a)
	}
}

// outOfReach tells of an agent whose channels reach none of those who may answer.
func (k risks) outOfReach(at string, a *approval.Agent) {
	if a.Channels == nil {
		return
	}
	names := k.answering(a)
	for _, p := range k.People() {
		for _, id := range p.IDs {
			platform, _, _ := strings.Cut(id, ":")
			if platform == "token" {
				platform = approval.Terminal
			}
			if slices.Contains(names, p.Name) && slices.Contains(a.Channels, platform) {
				return
			}
		}
	}
	k.find(Warning, at, "none of those who may answer has an id on these channels: its questions can only be answered elsewhere")
}
