package web

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// grantsView is what runs without asking, and what is paused.
type grantsView struct {
	Open []grantView
}

// grantView is a grant as the page draws it.
type grantView struct {
	Name, Ref, Tool, Agent, Talk, TalkRef string
	Level, By, Only                       string
	Until                                 time.Time
	Turn                                  bool // it ends with the run at the latest
	Always                                bool // it holds in every conversation of the agent
}

// pauseView is what is paused, and which agents could be.
type pauseView struct {
	All     bool
	Some    []string // agents that are
	Unnamed bool     // one more is, and its name holds a secret: it is lifted with all the others
	Agents  []string // agents that are not
}

// grants are the views of what runs without asking.
type grants struct {
	*site
	reader *recordReader
	agents kept[[]string] // that the record names of late
}

// list shows what is open.
func (g *grants) list(w http.ResponseWriter, r *http.Request, m *member, s said) {
	open, _, err := g.o.Grants.List(r.Context())
	if err != nil {
		g.unreachable(w, r, err)
		return
	}
	v := grantsView{Open: g.grantViews(open)}
	g.show(w, r, m, "grants", view{Title: "Grants", At: "grants", Said: s, Grants: v, Pauses: g.pauses(r.Context())})
}

func (g *grants) grantViews(open []store.Given) []grantView {
	out := make([]grantView, 0, len(open))
	for i := range open {
		one := &open[i]
		out = append(out, grantView{
			Name: one.ID, Ref: codes.Ref(one.ID), TalkRef: one.Conversation.Ref(), Level: one.Level.String(),
			By: foreign(g.o.Hide(strings.Join(one.By, ", "))), Tool: toolName(one.Tool),
			Agent: foreign(g.o.Hide(one.Agent)),
			Talk:  talkName(store.Name{Key: g.o.Hide(one.Conversation.Key)}), Until: one.Until, Turn: one.Run != "",
			Only: strings.TrimSpace(approval.Only(one)), Always: one.Always,
		})
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
func talkName(c store.Name) string {
	if c.Key == "" {
		return "no session key"
	}
	return foreign(c.Key)
}

// revoke ends grants.
func (g *grants) revoke(w http.ResponseWriter, r *http.Request, m *member) {
	o, err := g.o.Grants.Revoke(r.Context(), approval.Answer{ID: m.id(), Via: Via}, r.PostFormValue("grant"))
	g.fault(r.Context(), "a grant could not be ended", err)
	g.list(w, r, m, told(o))
}

// pauses says which agents are paused and which are not, of those that anything
// is known of.
func (g *grants) pauses(ctx context.Context) pauseView {
	var v pauseView
	agents, _ := g.agents.get(g.o.Now(), agentsKept, func() ([]string, error) { return g.reader.agents(), nil })
	paused, err := g.o.Pauses.List(ctx)
	g.fault(ctx, "the pauses could not be read", err)
	for _, pause := range paused {
		switch {
		case pause.Agent == "":
			v.All = true
		case g.o.Hide(pause.Agent) != pause.Agent:
			v.Unnamed = true
		default:
			v.Some = append(v.Some, pause.Agent)
		}
	}
	v.Agents = slices.DeleteFunc(slices.Clone(agents), func(agent string) bool { return contains(v.Some, agent) })
	return v
}

func contains(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// Bounds of looking for agents.
const (
	agentsIn   = 10_000 // lines
	agentsMost = 12
	agentsKept = 30 * time.Second
)

// agents are those that a typed line could name, in the order of the
// alphabet. Each is read once.
func (r *recordReader) agents() []string {
	var found []string
	files, err := r.o.Ledger.Files()
	if err != nil {
		return nil // the view of the record says why
	}
	scanned, seen := 0, map[string]bool{} // by what entries say, for params may name an agent, too
	for raw, err := range record.Backward(files, 0) {
		if scanned++; err != nil || scanned > agentsIn || len(found) == agentsMost {
			break
		}
		_, after, named := bytes.Cut(raw.Text, []byte(`"agent":"`))
		name, _, _ := bytes.Cut(after, []byte(`"`))
		if !named || seen[string(name)] {
			continue
		}
		l, err := raw.Line()
		if err != nil {
			continue
		}
		seen[l.Agent] = true
		if cmd, err := codes.Parse(".pause " + l.Agent); l.Agent != "" && err == nil && cmd.Agent == l.Agent && !contains(found, l.Agent) {
			found = append(found, l.Agent)
		}
	}
	slices.Sort(found)
	return found
}

// spoken is the line that a button of the page says; empty: there is no such button.
func spoken(value func(string) string) string {
	switch what := value("what"); what {
	case "pause", "resume":
		return strings.TrimSpace("." + what + " " + value("agent"))
	}
	return ""
}

// toolName is a tool's name as a person can trust it.
func toolName(s string) string {
	name, _ := channels.Name(s)
	return name
}
