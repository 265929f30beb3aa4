package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// many is one client before several servers, each behind a gate of its own. Names of tools and prompts begin with the
// server's. It judges nothing: what it hands to a gate is judged there, and passed on as it was judged.
type many struct {
	client outlet
	log    *gate // says what was left out

	all []*member

	mu        sync.Mutex
	open      map[string]bool         // the client's requests
	own       map[string]chan message // requests of our own
	questions map[string]question     // the servers' requests
	resources map[string]*member      // by address
	templates map[string]*member      // by what an address begins with
	next      int
}

// question is a request of a server's.
type question struct {
	of  *member
	id  jsontext.Value
	key string
}

// member is one of the servers.
type member struct {
	*many
	name string
	pipe *pipe
	back backend

	up   bool // it has answered initialize
	over bool // it has gone
	can  map[string]jsontext.Value
}

// between are two underscores: no name of a server has them.
const between = "__"

const (
	greetWithin = 60 * time.Second // how long servers have to start
	mostPages   = 100
)

// Many passes messages between the client on the streams and several servers, until the client ends.
func Many(ctx context.Context, o Options, s Streams, servers []Server) error {
	o.Log = s.Err
	x, err := newMany(o, &sender{w: s.Out}, servers)
	if err != nil {
		return err
	}
	asking, drop := context.WithCancel(ctx)
	defer drop()
	x.start(ctx)
	asked := make(chan error, 1)
	go func() {
		asked <- x.log.pump(newLines(s.In), func(line []byte) error { return x.fromClient(asking, line) })
	}()
	select {
	case <-asked:
	case <-ctx.Done():
	}
	drop()
	x.end()
	return nil
}

// newMany starts the servers. Those that can't be started are left out.
func newMany(o Options, client outlet, servers []Server) (*many, error) {
	x := &many{
		client: client, log: &gate{Options: o}, open: map[string]bool{}, own: map[string]chan message{}, questions: map[string]question{},
		resources: map[string]*member{}, templates: map[string]*member{},
	}
	for i := range servers {
		b, err := servers[i].start(o.Log)
		if err != nil {
			x.log.logf("The server %s was left out: %v.", servers[i].Name, err)
			continue
		}
		m := &member{many: x, name: servers[i].Name, back: b}
		own := o
		own.Server = m.name
		m.pipe = newPipe(own, m, b)
		x.all = append(x.all, m)
	}
	if len(x.all) == 0 {
		return nil, errors.New("none of the servers can be started")
	}
	return x, nil
}

func (x *many) start(ctx context.Context) {
	for _, m := range x.all {
		go func() {
			m.pipe.serve(ctx, m.back) //nolint:errcheck // it has ended, however that came
			x.mu.Lock()
			m.over = true
			x.mu.Unlock()
			m.pipe.end()
		}()
	}
}

// end ends all servers.
func (x *many) end() {
	var all sync.WaitGroup
	for _, m := range x.all {
		m.back.close()
		all.Go(func() {
			m.pipe.end()
			m.back.end(false)
		})
	}
	all.Wait()
}

// living are the servers that have answered initialize and can do something.
func (x *many) living(can string) (out []*member) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range x.all {
		if _, ok := m.can[can]; m.up && !m.over && (ok || can == "") {
			out = append(out, m)
		}
	}
	return out
}

func (x *many) byName(name string) (*member, string) {
	server, rest, ok := strings.Cut(name, between)
	if !ok {
		return nil, ""
	}
	for _, m := range x.living("") {
		if m.name == server {
			return m, rest
		}
	}
	return nil, ""
}

// fromClient takes a message of the client's.
func (x *many) fromClient(ctx context.Context, text []byte) error {
	m, err := decode(text, false)
	switch {
	case err != nil:
		x.say((&refusal{idOf(text), codeInvalid, err}).text())
		return nil //nolint:nilerr // the client got the error
	case m.isAnswer():
		x.answered(ctx, &m)
		return nil
	case !m.isRequest():
		x.notified(ctx, &m)
		return nil
	}
	x.mu.Lock()
	twice, full := x.open[m.key], len(x.open) >= mostPending
	if !twice && !full {
		x.open[m.key] = true
	}
	x.mu.Unlock()
	if twice || full {
		x.say((&refusal{m.id, codeInvalid, errors.New("too many requests are open, or another one with this id")}).text())
		return nil
	}
	if to, text, no := x.route(&m); no != nil {
		x.reply(&m, no.text())
	} else if to != nil {
		if err := to.pipe.fromClient(ctx, text); err != nil {
			x.reply(&m, (&refusal{m.id, codeGone, errOver}).text())
		}
	} else {
		go x.answer(ctx, m)
	}
	return nil
}

const codeUnknown = -32601

// route is where a request goes, and as what. Without a server it is answered here.
func (x *many) route(m *message) (to *member, text []byte, no *refusal) {
	no = &refusal{m.id, codeParams, errors.New("no server offers this")}
	switch m.method {
	case "initialize", "ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "logging/setLevel":
		return nil, nil, nil
	case "tools/call", "prompts/get":
		to, text = x.renamed(m.text, "params", "name")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		to, text = x.holder(m.params), m.text
	case "completion/complete":
		if to, text = x.renamed(m.text, "params", "ref", "name"); to == nil {
			all, err := members(m.params, nil)
			if err != nil {
				return nil, nil, no
			}
			to, text = x.holder(all["ref"]), m.text
		}
	default:
		return nil, nil, &refusal{m.id, codeUnknown, errors.New("the gate before several servers does not know this method")}
	}
	if to == nil {
		return nil, nil, no
	}
	return to, text, nil
}

// renamed takes the server's name off a name in a message, and returns the server.
func (x *many) renamed(text []byte, path ...string) (*member, []byte) {
	at := follow(text, span{0, len(text)}, path...)
	name, ok := asString(text[at.from:at.to])
	if !ok {
		return nil, nil
	}
	m, rest := x.byName(name)
	if m == nil || rest == "" {
		return nil, nil
	}
	return m, slices.Concat(text[:at.from], quoted(rest), text[at.to:])
}

// holder is the server that has listed a resource, or a form of addresses that this one has.
func (x *many) holder(params jsontext.Value) *member {
	all, err := members(params, []string{"uri"})
	uri, ok := asString(all["uri"])
	if err != nil || !ok {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if m := x.resources[uri]; m != nil {
		return m
	}
	longest, found := -1, (*member)(nil)
	for begin, m := range x.templates {
		if strings.HasPrefix(uri, begin) && len(begin) > longest {
			longest, found = len(begin), m
		}
	}
	return found
}

// answered hands the client's answer to the server that has asked.
func (x *many) answered(ctx context.Context, m *message) {
	x.mu.Lock()
	q, ok := x.questions[m.key]
	delete(x.questions, m.key)
	x.mu.Unlock()
	if !ok {
		return
	}
	parts, err := places(m.text, span{0, len(m.text)})
	if err != nil {
		return
	}
	at := parts["id"]
	q.of.hand(ctx, slices.Concat(m.text[:at.from], q.id, m.text[at.to:]))
}

func (m *member) hand(ctx context.Context, text []byte) {
	if m.pipe.fromClient(ctx, text) != nil {
		m.log.logf("The server %s could not be reached.", m.name)
	}
}

// notified hands a notification to all servers. A gate keeps to itself what is not about its requests.
func (x *many) notified(ctx context.Context, m *message) {
	switch m.method {
	case "notifications/initialized", "notifications/roots/list_changed":
	case "notifications/cancelled":
		for _, to := range x.living("") {
			if to.waits(m.params) {
				to.hand(ctx, m.text)
			}
		}
		return
	default:
		return // the servers' own numbers would mix
	}
	for _, to := range x.living("") {
		to.hand(ctx, m.text)
	}
}

// waits reports whether a cancellation is about a request of this server's gate.
func (m *member) waits(params jsontext.Value) bool {
	all, err := members(params, nil)
	key, ok := keyOf(all["requestId"])
	if err != nil || !ok {
		return false
	}
	m.mu.Lock()
	delete(m.open, key)
	m.mu.Unlock()
	p := m.pipe.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.find(key) != nil
}

// say sends a message to the client.
func (x *many) say(text []byte) {
	if x.client.send(text) != nil {
		x.log.logf("An answer could not be given to the client.")
	}
}

// reply answers a request of the client's.
func (x *many) reply(m *message, text []byte) {
	x.mu.Lock()
	open := x.open[m.key]
	delete(x.open, m.key)
	x.mu.Unlock()
	if open {
		x.say(text)
	}
}

// awake does nothing: the client's own stream stays open.
func (*member) awake() error { return nil }

// send takes what the server's gate has for the client.
func (m *member) send(text []byte) error {
	got, err := decode(text, true)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the gate passes on none that can't be read
	case got.isAnswer():
		m.mu.Lock()
		own := m.own[m.name+" "+got.key]
		delete(m.own, m.name+" "+got.key)
		m.mu.Unlock()
		if own != nil {
			own <- got
			return nil
		}
		if got.key == "" {
			return nil // it is about no request
		}
		m.reply(&got, text)
		return nil
	case !got.isRequest():
		if text = m.mine(text, &got); text == nil {
			return nil
		}
		return m.client.send(text)
	}
	m.mu.Lock()
	m.next++
	id := quoted(fmt.Sprintf("%s/%d", m.name, m.next))
	key, _ := keyOf(id)
	full := len(m.questions) >= mostPending
	if !full {
		m.questions[key] = question{m, got.id, got.key}
	}
	m.mu.Unlock()
	if full {
		return m.back.send((&refusal{got.id, codeInvalid, errors.New("too many requests are open")}).text())
	}
	parts, err := places(text, span{0, len(text)})
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	at := parts["id"]
	return m.client.send(slices.Concat(text[:at.from], id, text[at.to:]))
}

// mine is a notification with the id under which the client knows the request that it is about. nil: it is about none of
// this server's.
func (m *member) mine(text []byte, got *message) []byte {
	if got.method != "notifications/cancelled" {
		return text
	}
	at := follow(text, span{0, len(text)}, "params", "requestId")
	key, ok := keyOf(text[at.from:at.to])
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, q := range m.questions {
		if q.of == m && q.key == key {
			delete(m.questions, id)
			return slices.Concat(text[:at.from], quoted(strings.TrimPrefix(id, "s")), text[at.to:])
		}
	}
	return nil
}

// ask makes a request of our own.
func (m *member) ask(ctx context.Context, method string, params jsontext.Value) (message, error) {
	m.mu.Lock()
	m.next++
	id := quoted(fmt.Sprintf("verifier/%d", m.next))
	key, _ := keyOf(id)
	answer := make(chan message, 1)
	m.own[m.name+" "+key] = answer
	m.mu.Unlock()
	text := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s`, id, quoted(method))
	if params != nil {
		text = fmt.Appendf(text, `,"params":%s`, params)
	}
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	if err := m.pipe.fromClient(ctx, append(text, '}')); err != nil {
		return message{}, err
	}
	select {
	case got := <-answer:
		if got.failed != nil {
			return got, errors.New("it answers with an error")
		}
		return got, nil
	case <-ctx.Done():
		m.mu.Lock()
		delete(m.own, m.name+" "+key)
		m.mu.Unlock()
		return message{}, ctx.Err()
	}
}

// answer answers a request here, of what the servers answer.
func (x *many) answer(ctx context.Context, m message) {
	text := (&refusal{m.id, codeGone, errors.New("the gate failed")}).text()
	defer func() {
		recover() //nolint:errcheck // what it says may hold a part of a message
		x.reply(&m, text)
	}()
	result := jsontext.Value("{}")
	switch m.method {
	case "initialize":
		result = x.greet(ctx, &m)
	case "logging/setLevel":
		x.each(x.living("logging"), func(s *member) error {
			_, err := s.ask(ctx, m.method, m.params)
			return err
		})
	case "resources/templates/list":
		result = x.list(ctx, m.method, "resources", "resourceTemplates")
	case "tools/list", "prompts/list", "resources/list":
		name := strings.TrimSuffix(m.method, "/list")
		result = x.list(ctx, m.method, name, name)
	}
	if result == nil {
		text = (&refusal{m.id, codeGone, errors.New("none of the servers answers")}).text()
		return
	}
	text = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, result)
}

// each does something with several servers at once. Those that fail are left out.
func (x *many) each(these []*member, do func(*member) error) {
	var all sync.WaitGroup
	for _, s := range these {
		all.Go(func() {
			if err := do(s); err != nil {
				x.log.logf("The server %s was left out: %v.", s.name, err)
			}
		})
	}
	all.Wait()
}

type greeting struct {
	Version      string                    `json:"protocolVersion"`
	Capabilities map[string]jsontext.Value `json:"capabilities"`
	Info         jsontext.Value            `json:"serverInfo"`
	Instructions string                    `json:"instructions,omitzero"`
}

// greet meets all servers, and answers as one that can do what they can.
func (x *many) greet(ctx context.Context, m *message) jsontext.Value {
	said := map[*member]greeting{}
	x.each(x.all, func(s *member) error {
		got, err := s.ask(ctx, m.method, m.params)
		if err != nil {
			return err
		}
		var g greeting
		if err := json.Unmarshal(got.result, &g, jsontext.AllowInvalidUTF8(true)); err != nil {
			return errors.New("its answer can't be read")
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		s.up, s.can, said[s] = true, g.Capabilities, g
		return nil
	})
	if len(said) == 0 {
		return nil
	}
	out := greeting{Capabilities: map[string]jsontext.Value{}, Info: jsontext.Value(`{"name":"verifier","version":"1"}`)}
	for _, s := range x.all {
		g, ok := said[s]
		if !ok {
			continue
		}
		if out.Version == "" || g.Version < out.Version {
			out.Version = g.Version
		}
		for _, name := range []string{"tools", "prompts", "resources", "logging", "completions"} {
			if v, ok := g.Capabilities[name]; ok {
				out.Capabilities[name] = union(out.Capabilities[name], v)
			}
		}
		if g.Instructions != "" {
			out.Instructions += s.name + ": " + g.Instructions + "\n"
		}
	}
	text, err := json.Marshal(out, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return text
}

// union is what one of two can do.
func union(a, b jsontext.Value) jsontext.Value {
	out := map[string]jsontext.Value{}
	for _, v := range []jsontext.Value{a, b} {
		var one map[string]jsontext.Value
		if v != nil && json.Unmarshal(v, &one) == nil {
			maps.Copy(out, one)
		}
	}
	text, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return jsontext.Value("{}")
	}
	return text
}

// list is a list of all servers.
func (x *many) list(ctx context.Context, method, can, name string) jsontext.Value {
	var mu sync.Mutex
	found := map[*member][]jsontext.Value{}
	these := x.living(can)
	x.each(these, func(s *member) error {
		items, err := s.pages(ctx, method, name)
		mu.Lock()
		defer mu.Unlock()
		found[s] = items
		return err
	})
	items := []jsontext.Value{}
	for _, s := range these {
		for _, item := range found[s] {
			if item = s.listed(name, item); item != nil {
				items = append(items, item)
			}
		}
	}
	text, err := json.Marshal(map[string][]jsontext.Value{name: items}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return text
}

// pages are all items of a server's list.
func (m *member) pages(ctx context.Context, method, name string) (out []jsontext.Value, err error) {
	var params jsontext.Value
	for range mostPages {
		got, err := m.ask(ctx, method, params)
		if err != nil {
			return out, err
		}
		result, err := members(got.result, []string{name, "nextCursor"}, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return out, err
		}
		var items []jsontext.Value
		if err := json.Unmarshal(result[name], &items, jsontext.AllowInvalidUTF8(true)); err != nil {
			return out, errors.New("its list can't be read")
		}
		out = append(out, items...)
		cursor, ok := asString(result["nextCursor"])
		if !ok || cursor == "" {
			return out, nil
		}
		params = slices.Concat([]byte(`{"cursor":`), quoted(cursor), []byte("}"))
	}
	return out, nil
}

// listed is an item as the client sees it: tools and prompts have the server's name before their own, and a resource
// belongs to the server that has listed it first.
func (m *member) listed(list string, item jsontext.Value) jsontext.Value {
	key := map[string]string{"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}[list]
	parts, err := places(item, span{0, len(item)})
	at := parts[key]
	value, ok := asString(item[at.from:at.to])
	if err != nil || !ok {
		return nil
	}
	if key == "name" {
		return slices.Concat(item[:at.from], quoted(m.name+between+value), item[at.to:])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if list == "resourceTemplates" {
		return m.template(value, item)
	}
	held := m.resources
	if other := held[value]; other != nil && other != m {
		m.log.logf("The resource %q of %s was left out: %s has one with this address.", value, m.name, other.name)
		return nil
	}
	if len(held) < mostResources {
		held[value] = m
	}
	return bytes.Clone(item)
}

// template is a form of addresses. It begins with a scheme, and with nothing with which another server's begins.
func (m *member) template(form string, item jsontext.Value) jsontext.Value {
	begin, _, _ := strings.Cut(form, "{")
	why := ""
	if !schemed.MatchString(begin) {
		why = "it begins with no scheme"
	} else if len(m.templates) >= mostTemplates {
		why = "there are too many"
	}
	for other, of := range m.templates {
		if of != m && (strings.HasPrefix(other, begin) || strings.HasPrefix(begin, other)) {
			why = of.name + " has one that begins like it"
		}
	}
	if why != "" {
		m.log.logf("The form of addresses %q of %s was left out: %s.", form, m.name, why)
		return nil
	}
	m.templates[begin] = m
	return bytes.Clone(item)
}

var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// How many addresses, and forms of them, are known of all servers.
const (
	mostResources = 100_000
	mostTemplates = 1000
)
