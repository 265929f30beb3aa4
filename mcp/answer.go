package mcp

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// tellWithin is how long an answer waits until the gateway knows of it.
const tellWithin = 5 * time.Second

// contents are the requests whose answers a model reads, beside all those that are judged. The others name things only.
// In 2026-07-28 the result of a task is a part of its state.
var contents = map[string]bool{"tasks/result": true, "tasks/get": true}

// greetings are the requests by which a client meets a server.
var greetings = map[string]bool{"initialize": true, "server/discover": true}

// questions are what a server sends by itself that puts its text before a model or a person.
var questions = map[string]bool{sampling: true, "elicitation/create": true, "notifications/tasks": true, "notifications/tasks/status": true}

// fromServer judges a message of the server's. It returns what the client gets, and what the server gets in return; nil:
// nothing.
func (p *peer) fromServer(ctx context.Context, text []byte) (toClient, toServer []byte) {
	m, err := decode(text, true)
	switch {
	case err != nil:
		p.logf("What the server sent was not passed on: %v.", err)
		return p.unread(text), nil
	case !m.isAnswer():
		return p.question(ctx, &m)
	case m.key == "": // the server could not read something
		return m.text, nil
	}
	r := p.take(m.key)
	if r == nil { // it was dropped, or the server answers what was never asked: a call that is held, for example
		p.logf("An answer of the server's was not passed on: no request waits for it.")
		return nil, nil
	}
	return p.answered(ctx, r, &m), nil
}

// question judges what the server asks or says by itself.
func (p *peer) question(ctx context.Context, m *message) (toClient, toServer []byte) {
	var why error
	switch {
	case m.method == sampling && wantsOthers(m.params), strings.HasPrefix(m.method, "notifications/tasks") && asksForOthers(m.params):
		why = errOthers
	case questions[m.method] && !p.tell(ctx, p.toolName(m.method), "", m.params, false):
		why = errors.New("the verifier could not note the request, so it was not passed on")
	default:
		return m.text, nil
	}
	p.logf("What the server asks for was not passed on: %v.", why)
	if m.key == "" { // a notification has no answer
		return nil, nil
	}
	return nil, (&refusal{m.id, codeDenied, why}).text()
}

const sampling = "sampling/createMessage"

var errOthers = errors.New("the verifier does not pass on a question to the model that is to include what other servers have returned")

// wantsOthers reports whether a question to the client's model is to include the context of other servers: the answer would carry that to this one.
func wantsOthers(params jsontext.Value) bool {
	all, err := members(params, []string{"includeContext"}, jsontext.AllowInvalidUTF8(true))
	v, ok := all["includeContext"]
	with, _ := asString(v)
	return err != nil || ok && with != "none" && with != "thisServer"
}

// asksForOthers reports whether the server answers with such a question (since 2026-07-28).
func asksForOthers(result jsontext.Value) bool {
	invalid := jsontext.AllowInvalidUTF8(true)
	all, err := members(result, []string{"inputRequests"}, invalid)
	asks, ok := all["inputRequests"]
	if err != nil || !ok {
		return err != nil
	}
	each, err := members(asks, nil, invalid)
	if err != nil {
		return asks.Kind() == jsontext.KindBeginObject
	}
	for _, q := range each {
		one, err := members(q, []string{"method", "params"}, invalid)
		if method, _ := asString(one["method"]); err != nil || strings.EqualFold(method, sampling) && wantsOthers(one["params"]) {
			return true
		}
	}
	return false
}

// answered is what the client gets for the server's answer.
func (p *peer) answered(ctx context.Context, r *request, m *message) []byte {
	if (r.tool != "" || contents[r.method]) && m.result != nil && asksForOthers(m.result) {
		p.logf("What the server asks for was not passed on: %v.", errOthers)
		return (&refusal{r.id, codeDenied, errOthers}).text()
	}
	if (r.tool != "" || contents[r.method]) && !r.byHook && !p.tell(ctx, cmp.Or(r.tool, p.toolName(r.method)), r.callID, m.content(), m.failed != nil) {
		return (&refusal{r.id, codeDenied, errors.New("what the server returned could not be noted, so it is not passed on")}).text()
	}
	if r.method == "tools/list" {
		text, err := p.listed(ctx, m)
		if err != nil {
			p.logf("The list of tools was not passed on: %v.", err)
			return (&refusal{r.id, codeDenied, errors.New("the server's list of tools can't be read, so it was not passed on")}).text()
		}
		return text
	}
	if greetings[r.method] {
		text, err := p.greeted(m)
		if err != nil {
			p.logf("What the server says of itself was not passed on: %v.", err)
			return (&refusal{r.id, codeDenied, errors.New("what the server says of itself can't be read or noted, so it was not passed on")}).text()
		}
		return text
	}
	p.retries.note(r, m.result)
	return m.text
}

func (m *message) content() jsontext.Value {
	if m.failed != nil {
		return m.failed
	}
	return m.result
}

// unread ends the request whose answer can't be read in one way only, if it can be found out which it is.
func (p *peer) unread(text []byte) []byte {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method jsontext.Value `json:"method"`
	}
	err := json.Unmarshal(text, &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	key, ok := keyOf(m.ID)
	if err != nil || !ok || m.Method != nil {
		return nil // it is no answer
	}
	if r := p.take(key); r != nil {
		return (&refusal{r.id, codeGone, errors.New("the server's answer can't be read, so it was not passed on")}).text()
	}
	return nil
}

// tell tells the gateway that text of the server's comes into the conversation, and reports whether that is known there or
// noted here.
func (g *gate) tell(ctx context.Context, tool, id string, content jsontext.Value, failed bool) bool {
	s, err := g.session()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	return s.Returned(ctx, tool, id, hook.TextOf(content), failed) == nil
}

// retries are the calls that a server has answered with a question: the client makes the same call again, with the
// answer to it (since 2026-07-28). Where the answer holds no text, the gateway is asked by the same message then, so that
// you are not asked twice.
type retries struct {
	mu   sync.Mutex
	open map[string]retry
}

type retry struct {
	asked *hook.Asked // nil: by the hook
	at    time.Time   // when it was asked about
	wants map[string]jsontext.Value
}

const (
	mostRetries = 32
	keepRetries = 270 * time.Second // the gateway takes a message for 5 minutes
	keepOpen    = time.Hour         // how long a server's question can be answered
)

// note notes that a call will come again.
func (t *retries) note(r *request, result jsontext.Value) {
	if r.tool == "" || result == nil {
		return
	}
	all, err := members(result, nil, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return
	}
	if kind, _ := asString(all["resultType"]); kind != "input_required" {
		return
	}
	wants, err := members(all["inputRequests"], nil, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		wants = nil // a server may want to see its state again, and nothing else
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.makeRoom()
	t.open[digest([]byte(r.same), canonical(all["requestState"]))] = retry{r.asked, r.at, wants}
}

// makeRoom forgets what is too old, and the oldest where there are too many.
func (t *retries) makeRoom() {
	if t.open == nil {
		t.open = map[string]retry{}
	}
	oldest := ""
	for key, old := range t.open {
		if time.Since(old.at) > keepOpen {
			delete(t.open, key)
		} else if oldest == "" || old.at.Before(t.open[oldest].at) {
			oldest = key
		}
	}
	if len(t.open) >= mostRetries {
		delete(t.open, oldest)
	}
}

// take is a call that was let pass and is made again; once.
func (t *retries) take(same string, state jsontext.Value) (old retry, ok bool) {
	key := digest([]byte(same), canonical(state))
	t.mu.Lock()
	defer t.mu.Unlock()
	old, ok = t.open[key]
	delete(t.open, key)
	return old, ok && time.Since(old.at) <= keepOpen
}

// wordless reports whether answers say yes or no to what the server has asked, and nothing else.
func (o *retry) wordless(responses jsontext.Value) bool {
	if responses == nil {
		return true
	}
	all, err := members(responses, nil)
	if err != nil {
		return false
	}
	for name, v := range all {
		one, err := members(v, nil)
		action, _ := asString(one["action"])
		if _, asked := o.wants[name]; !asked || err != nil || len(one) != 1 || action != "accept" && action != "decline" && action != "cancel" {
			return false
		}
	}
	return true
}
