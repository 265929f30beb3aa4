package mcp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/wholefile"
)

// ChangedTool is the name under which the gateway asks the owner about a tool that a server has changed. It is on the dangerous list: a person is
// asked at every level.
const ChangedTool = "mcp_tool_changed"

const (
	// changeWait is how long one message waits for the owner. The question stays open after it, and the next message finds the answer.
	changeWait = 580 * time.Second
	// changeRest is how long a difference waits that takes the place of one that the owner has not answered.
	changeRest = time.Minute
	// refusedFor is how long the owner is not asked again about a change that got no yes. `verifier mcp tools` shows it.
	refusedFor = 24 * time.Hour
	// longestChange is how much a card is asked to show.
	longestChange = 512 << 10
)

// putChanges puts what this server has changed to the owner, one change after the other, beside everything else. A card shows the difference. A
// person's yes to it is what `verifier mcp tools --accept` is. A server has one open card: where it changes once more what is there, the card is
// closed, and another one shows what is true by then.
func (g *gate) putChanges(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changes != nil {
		select {
		case g.changes <- struct{}{}:
		default: // it is said already
		}
		return
	}
	changes := make(chan struct{}, 1)
	g.changes = changes
	go func() {
		for more := true; more; {
			more = g.putChange(context.WithoutCancel(ctx), changes) || g.changedMeanwhile(changes)
		}
	}()
}

// changedMeanwhile reports whether the server has changed something since the last look. Otherwise the owner is not asked any more.
func (g *gate) changedMeanwhile(changes chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-changes:
		return true
	default:
		g.changes = nil
		return false
	}
}

// putChange puts the first change of this server to the owner that has no answer, and waits for the answer. It reports whether there may be more.
func (g *gate) putChange(ctx context.Context, changes <-chan struct{}) bool {
	last := g.Definitions.asked(g.Server)
	d, params := g.firstChange(last.about)
	if d == nil && last.question == "" {
		return false
	}
	s, err := g.session()
	if err != nil {
		return false
	}
	if last.question != "" && (d == nil || last.about != d.nameOfChange()) {
		if s.Replaced(ctx, g.serverKey(), last.question) != nil || g.Definitions.asks(g.Server, asked{at: last.at}) != nil {
			return false
		}
		last = asked{at: last.at}
	}
	if d == nil {
		return false
	}
	if rest := time.Until(last.at.Add(changeRest)); rest > 0 && rest <= changeRest && last.about == "" {
		<-time.After(rest)
		return true
	}
	v, err := g.askChange(ctx, s, d, params, changes)
	if err != nil {
		g.forget(s)
	}
	return g.answeredChange(ctx, s, d, v, err)
}

// serverKey is the server's name, in one spelling for all gates.
func (g *gate) serverKey() string { return strings.ToLower(g.Server) }

// askChange asks the owner about a change, until there is an answer or the server says something else.
func (g *gate) askChange(ctx context.Context, s Session, d *Definition, params jsontext.Value, changes <-chan struct{}) (hook.Verdict, error) {
	call := hook.Call{Tool: ChangedTool, Params: params, Server: g.serverKey(), Wait: time.Millisecond}
	began := time.Now()
	v, err := s.Ask(ctx, call)
	call.Wait = changeWait
	for err == nil && v.Question != "" && g.Definitions.waits(d) { // it is open, and the same call joins it
		if err = g.Definitions.asks(g.Server, asked{about: d.nameOfChange(), question: v.Question, at: began}); err == nil {
			v, err = g.await(ctx, s, d, call, changes)
		}
	}
	if err == nil && v.Question != "" { // it was put, and is about what is no longer true
		err = s.Replaced(ctx, g.serverKey(), v.Question)
	}
	return v, err
}

// nameOfChange says which change of which tool it is.
func (d *Definition) nameOfChange() string { return d.Tool + " " + d.Version() }

// firstChange is the first change of this server that has no answer, as it is put to the owner. The one of this name comes before all others. nil: there is none.
func (g *gate) firstChange(name string) (first *Definition, put jsontext.Value) {
	all, err := g.Definitions.List(nil)
	if err != nil {
		return nil, nil
	}
	for i := range all {
		d := &all[i]
		if d.Change == "" || !strings.EqualFold(d.Server, g.Server) || g.Definitions.refused(d) {
			continue
		}
		params, err := json.Marshal(map[string]string{"server": d.Server, "tool": d.Tool, "old_string": indented(d.Text), "new_string": indented(d.Change)}, json.Deterministic(true))
		if err != nil || len(params) > longestChange { // no card can show it
			continue
		}
		if first == nil || d.nameOfChange() == name {
			first, put = d, params
		}
	}
	return first, put
}

// look is how often it is looked whether another gate got the owner's answer: before the gateway would ask the owner once more.
const look = 20 * time.Millisecond

// await asks once more, for long. It ends early where the server says something else by then, or another gate has the answer.
func (g *gate) await(ctx context.Context, s Session, d *Definition, c hook.Call, changes <-chan struct{}) (hook.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, changeWait+margin)
	defer cancel()
	go func() {
		tick := time.NewTicker(look)
		defer tick.Stop()
		for g.Definitions.waits(d) {
			select {
			case <-ctx.Done():
				return
			case <-changes:
			case <-tick.C:
			}
		}
		cancel()
	}()
	return s.Ask(ctx, c)
}

// answeredChange takes the owner's answer. It reports whether there may be more to ask about.
func (g *gate) answeredChange(ctx context.Context, s Session, d *Definition, v hook.Verdict, err error) bool {
	switch {
	case !g.Definitions.waits(d):
		if g.Definitions.holds(d, definedEnd) { // by another gate, or by `verifier mcp tools --accept`
			g.accepted(d.Tool)
			if last := g.Definitions.asked(g.Server); last.about == d.nameOfChange() {
				return s.Replaced(ctx, g.serverKey(), last.question) == nil && g.Definitions.asks(g.Server, asked{}) == nil
			}
		}
		return true
	case err != nil || v.Ref == "": // no person was asked
		return false
	}
	err = g.Definitions.asks(g.Server, asked{})
	if v.Allowed {
		if err = errors.Join(err, g.Definitions.Accept(d)); err == nil {
			g.accepted(d.Tool)
		}
	} else {
		err = errors.Join(err, g.Definitions.refuse(d))
	}
	return err == nil
}

// asked is the question about a change of a server's that was put last.
type asked struct {
	about    string    // which change
	question string    // its name at the gateway; "": it is closed
	at       time.Time // when it was put; zero: it was answered
}

func (k *Definitions) askedPath(server string) string {
	return filepath.Join(k.Dir, strings.ToLower(server), "asked")
}

// asked is what was put last, by this gate or another. What can't be read counts as nothing: then there may be one card too many.
func (k *Definitions) asked(server string) (a asked) {
	text, err := os.ReadFile(k.askedPath(server)) //nolint:gosec // a hash is its name, and the owner names the server
	if err != nil {
		return a
	}
	lines := strings.Split(string(text), "\n")
	if at, err := time.Parse(time.RFC3339, lines[0]); err == nil && len(lines) == 3 {
		a = asked{at: at, question: lines[1], about: lines[2]}
	}
	return a
}

// asks keeps what is asked now.
func (k *Definitions) asks(server string, a asked) error {
	if a.at.IsZero() {
		if err := os.Remove(k.askedPath(server)); !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // a hash is its name, and the owner names the server
			return err
		}
		return nil
	}
	return wholefile.Put(k.askedPath(server), []byte(a.at.UTC().Format(time.RFC3339)+"\n"+a.question+"\n"+a.about))
}

// waits reports whether a change is still what the server says.
func (k *Definitions) waits(d *Definition) bool { return k.holds(d, changedEnd) }

// holds reports whether a change is what one of the tool's files says.
func (k *Definitions) holds(d *Definition, end string) bool {
	now, err := os.ReadFile(k.path(d.Server, d.Tool) + end) //nolint:gosec // a hash is its name, and the owner names the server
	return err == nil && string(now) == d.Change
}

// refuse keeps that a change got no yes.
func (k *Definitions) refuse(d *Definition) error {
	return wholefile.Put(k.path(d.Server, d.Tool)+refusedEnd, []byte(d.Version()))
}

func (k *Definitions) refused(d *Definition) bool {
	path := k.path(d.Server, d.Tool) + refusedEnd
	text, err := os.ReadFile(path) //nolint:gosec // a hash is its name, and the owner names the server
	if err != nil || string(text) != d.Version() {
		return false
	}
	info, err := os.Stat(path) //nolint:gosec // a hash is its name, and the owner names the server
	return err == nil && time.Since(info.ModTime()) < refusedFor
}

// listChanged tells a client to ask for the list of tools again.
const listChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// accepted says that the owner has accepted a change.
func (g *gate) accepted(tool string) {
	if tool == Instructions {
		g.logf("The owner has accepted the server's instructions. The client gets them when it connects again.")
		return
	}
	g.logf("The owner has accepted the change of the tool %q. It is in the next list of tools.", tool)
	g.reply([]byte(listChanged))
}

// indented is a definition, a line for each member.
func indented(text string) string {
	v := jsontext.Value(text)
	if v.Indent(jsontext.WithIndent("  ")) != nil {
		return text
	}
	return string(v)
}
