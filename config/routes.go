package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/spelling"
	"github.com/openclaw-verifier/verifier/toolcall"
)

func (k *checker) checkRoutes() {
	for i := range k.Approval.Routes {
		k.checkRoute(index("approval.routes", i), &k.Approval.Routes[i])
	}
}

func (k *checker) checkRoute(at string, r *approval.Route) {
	k.notEmpty(at+".tools", r.Tools)
	k.notEmpty(at+".agents", r.Agents)
	k.notEmpty(at+".rules", r.Rules)
	k.notEmpty(at+".channels", r.Channels)
	k.notEmpty(at+".approvers", r.Approvers)
	for j, name := range r.Rules {
		k.oneOf(index(at+".rules", j), name, "rule that asks a person", policy.AskingRules())
	}
	k.checkWays(at, r.Channels)
	k.checkNames(at, r.Approvers)
	inRange(k.report, at+".approvals", r.Approvals, 0, 20)
	k.checkEscalations(at, r)
	k.checkQuorum(at, r)
}

func (k *checker) notEmpty(at string, list []string) {
	if list != nil && len(list) == 0 {
		k.fail(at, "is empty, so that the route would fit nothing or reach no person", "name what is meant, or remove the key to mean all")
	}
}

// oneOf refuses a name that nothing has.
func (k *checker) oneOf(at, name, what string, known []string) {
	if slices.Contains(known, name) {
		return
	}
	hint := "there are none"
	if near, _ := spelling.Nearest(name, known); near != "" {
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
	known := k.answering(&approval.Route{}) // every approver
	for j, name := range names {
		k.oneOf(index(at+".approvers", j), name, "approver's name", known)
	}
}

// checkEscalations sees that each step comes after the one before, before the
// question expires, and goes where it has not been.
func (k *checker) checkEscalations(at string, r *approval.Route) {
	seen, last := slices.Clone(r.Channels), time.Duration(0)
	if len(r.Escalate) > 0 && r.Channels == nil {
		k.fail(at+".escalate", "has nowhere to go: without channels the question is put to all of them at once", "name the first ones in "+at+".channels")
	}
	for j, e := range r.Escalate {
		at := index(at+".escalate", j)
		switch {
		case e.After < time.Second:
			k.fail(at+".after", "must be at least 1s", "say after what time without an answer it goes on, such as 30s")
		case e.After <= last:
			k.fail(at+".after", fmt.Sprintf("comes no later than the step before, which is at %s", last), "each step is counted from the start of the question")
		case e.After >= k.ApprovalTTL():
			k.fail(at+".after", fmt.Sprintf("never comes: a question expires after %s", k.ApprovalTTL()), "make it sooner, or approvalTtlSeconds longer")
		}
		last = max(last, e.After)
		if len(e.Channels) == 0 {
			k.fail(at+".channels", "is missing: a step must say where the question goes", "add channels")
		}
		k.checkWays(at, e.Channels)
		for c, name := range e.Channels {
			if slices.Contains(seen, name) {
				k.fail(index(at+".channels", c), "has the question already", "name another, or drop the step")
			}
		}
		seen = append(seen, e.Channels...)
		k.checkNames(at, e.Approvers)
		if len(e.Approvers) > 0 && r.Approvers == nil {
			k.fail(at+".approvers", "adds no person: without approvers every approver may answer from the start", "name the first ones beside escalate, or drop these")
		}
	}
}

// checkQuorum refuses a route that needs more people than may answer.
func (k *checker) checkQuorum(at string, r *approval.Route) {
	may := k.answering(r)
	if needed := cmp.Or(r.Approvals, k.Approval.Approvals); needed > len(may) && len(k.People()) > 0 {
		k.fail(at+".approvals", fmt.Sprintf("%d people must approve and %d may", needed, len(may)), "ask for fewer, or name more approvers")
	}
}

// answering are the names of those who may answer a route's questions.
func (k *checker) answering(r *approval.Route) []string {
	if r.Approvers == nil {
		var all []string
		for _, p := range k.People() {
			all = append(all, p.Name)
		}
		return all
	}
	names := slices.Clone(r.Approvers)
	for _, e := range r.Escalate {
		names = append(names, e.Approvers...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// riskyRoutes says what in valid routes may not be meant.
func (k risks) riskyRoutes() {
	covered := false
	for i := range k.Approval.Routes {
		r, at := &k.Approval.Routes[i], index("approval.routes", i)
		if covered {
			k.find(Warning, at, "is never reached: a route before it fits everything")
		}
		covered = covered || r.Tools == nil && r.Agents == nil && r.Rules == nil
		k.strangeTools(at+".tools", r.Tools)
		k.outOfReach(at, r)
		for j, e := range r.Escalate {
			if e.After >= k.Webhook.Hold {
				k.find(Note, index(at+".escalate", j)+".after", fmt.Sprintf("comes when a call that waits %s has been denied: a yes then lets one identical retry through", k.Webhook.Hold))
			}
		}
		if self := k.Approval.RequesterMayApprove; self != nil && !*self && cmp.Or(r.Approvals, k.Approval.Approvals, 1) >= len(k.answering(r)) {
			k.find(Warning, at, "when one of those who may answer has started the run, too few are left: such calls will be denied")
		}
	}
}

// strangeTools names what looks like a slip of a tool's name. A tool that we don't know may be a plugin's.
func (k risks) strangeTools(at string, tools []string) {
	p, _, err := policy.New(policy.Config{})
	if err != nil {
		return
	}
	known := p.Tools()
	for j, tool := range tools {
		name := toolcall.Canonical(tool)
		if near, far := spelling.Nearest(name, known); !slices.Contains(known, name) && far <= 2 && len(name) > 3 {
			k.find(Warning, index(at, j), "no tool we know has this name: did you mean "+near+"?")
		}
	}
}

// outOfReach tells of a route whose channels reach none of those who may answer.
func (k risks) outOfReach(at string, r *approval.Route) {
	if r.Channels == nil {
		return
	}
	names, ways := k.answering(r), slices.Clone(r.Channels)
	for _, e := range r.Escalate {
		ways = append(ways, e.Channels...)
	}
	for _, p := range k.People() {
		for _, id := range p.IDs {
			platform, _, _ := strings.Cut(id, ":")
			if platform == "token" {
				platform = approval.Terminal
			}
			if slices.Contains(names, p.Name) && slices.Contains(ways, platform) {
				return
			}
		}
	}
	k.find(Warning, at, "none of those who may answer has an id on its channels: its questions can only be answered elsewhere")
}
