package web

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
)

// grantsView is what runs without asking, and what is paused.
type grantsView struct {
	Open   []grantView
	More   bool
	Always []consentView // what could be allowed for longer
}

// grantView is a grant as the page draws it.
type grantView struct {
	Name, Ref, Tool, Agent, Talk, TalkHash string
	Level, By, Only                        string
	Exactly                                bool // only the call that it was given on
	Until                                  time.Time
	Turn                                   bool // it ends with the run at the latest
	Standing                               bool // it holds in every conversation of the agent
}

// pauseView is what is paused, and which agents could be.
type pauseView struct {
	All     bool
	Some    []string // agents that are
	Unnamed bool     // one more is, and its name holds a secret: it is lifted with all the others
	Agents  []string // agents that are not
}

// grants shows what is open.
func (p *Page) grants(w http.ResponseWriter, r *http.Request, m *member) { p.granting(w, r, m, said{}) }

func (p *Page) granting(w http.ResponseWriter, r *http.Request, m *member, s said) {
	open, err := p.o.Desk.Grants(r.Context(), "")
	if err != nil {
		p.unreachable(w, r, err)
		return
	}
	v := grantsView{Open: p.grantViews(open), More: open.More}
	if m.Approver {
		v.Always = p.consentViews(r.Context(), open)
	}
	absences, err := p.absences(r.Context(), m)
	if err != nil {
		p.unreachable(w, r, err)
		return
	}
	p.show(w, r, m, "grants", view{Title: "Grants", At: "grants", Said: s, Grants: v, Pauses: p.pauses(), Absences: absences})
}

func (p *Page) grantViews(open approval.Granting) []grantView {
	out := make([]grantView, 0, len(open.Grants))
	for i := range open.Grants {
		g := &open.Grants[i]
		v := grantView{
			Name: g.Name(), Ref: codes.Ref(g.ID), TalkHash: g.Conversation.Hash(), Level: g.Level.String(), By: foreign(p.o.Hide(g.By)),
			Agent: foreign(p.o.Hide(g.Agent)), Talk: talkName(session.Conversation{Key: p.o.Hide(g.Conversation.Key)}), Until: g.Until, Turn: g.Run != "", Only: strings.TrimSpace(approval.LikeOnly(g)), Exactly: g.IsExactly() && g.ShownCall() == "", Standing: g.IsStanding() && g.Conversation.Key == "",
		}
		v.Tool, _ = channels.Name(g.Tool)
		out = append(out, v)
	}
	return out
}

// foreign is a name that others chose as it can be seen. The record has taken the
// secrets out of those it keeps; others go through Options.Hide before.
func foreign(s string) string {
	text, _ := channels.Safe(redact.Line(s), channels.Form{Limit: 80})
	return text
}

// talkName is what a conversation is called.
func talkName(c session.Conversation) string {
	if c.Key == "" {
		return "no session key"
	}
	if agent, ok := c.JobsOf(); ok {
		return "Scheduled jobs of " + foreign(cmp.Or(agent, "an agent without a name"))
	}
	return foreign(c.Key)
}

// revoke ends grants.
func (p *Page) revoke(w http.ResponseWriter, r *http.Request, m *member) {
	o, err := p.o.Desk.Revoke(r.Context(), approval.Answer{ID: m.id(), Via: Via}, r.PostFormValue("grant"))
	if err != nil {
		p.o.Log.ErrorContext(r.Context(), "a grant could not be ended", "err", err)
	}
	p.granting(w, r, m, told(o))
}

// pauses says which agents are paused and which are not, of those that anything
// is known of.
func (p *Page) pauses() pauseView {
	var v pauseView
	for _, pause := range p.o.Desk.Pauses() {
		if pause.Scope == session.AllAgents {
			v.All = true
			continue
		}
		if p.o.Hide(pause.Scope) != pause.Scope {
			v.Unnamed = true
			continue
		}
		v.Some = append(v.Some, pause.Scope)
	}
	for _, agent := range p.agents.get(p) {
		if !contains(v.Some, agent) {
			v.Agents = append(v.Agents, agent)
		}
	}
	return v
}

func contains(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// keptAgents keeps which agents the record names of late: it takes reading it.
type keptAgents struct {
	mu   sync.Mutex
	at   time.Time
	last []string
}

// Bounds of looking for agents.
const (
	agentsIn   = 10_000 // lines
	agentsMost = 12
	agentsKept = 30 * time.Second
)

func (k *keptAgents) get(p *Page) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := p.o.Now(); now.Sub(k.at) > agentsKept || now.Before(k.at) {
		k.at, k.last = now, p.recentAgents()
	}
	return k.last
}

// recentAgents are those that a typed line could name, in the order of the
// alphabet. Each is read once.
func (p *Page) recentAgents() []string {
	var found []string
	scanned, seen := 0, map[string]bool{} // by what entries say, for params may name an agent, too
	for l, err := range p.o.Ledger.Backward(func(raw []byte) bool {
		_, after, named := bytes.Cut(raw, []byte(`"agent":"`))
		name, _, _ := bytes.Cut(after, []byte(`"`))
		scanned++
		return scanned > agentsIn || named && !seen[string(name)]
	}) {
		if err != nil || scanned > agentsIn || len(found) == agentsMost {
			break
		}
		seen[l.Agent] = true
		if cmd, err := codes.Parse(".pause " + l.Agent); l.Agent != "" && err == nil && cmd.Agent == l.Agent && !contains(found, l.Agent) {
			found = append(found, l.Agent)
		}
	}
	slices.Sort(found)
	return found
}
