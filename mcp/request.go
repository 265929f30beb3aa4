package mcp

import (
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A request for a resource or a prompt can carry out what a call can: an address is text of the model's. So each request is judged as a call of
// a tool is, but for those that say nothing of the model's choice.

// unjudged are the requests that only ask what there is, or that are about what the server has named: tasks, and places in lists.
var unjudged = map[string]bool{
	"initialize": true, "server/discover": true, "ping": true, "logging/setLevel": true, "tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true,
	"tasks/get": true, "tasks/result": true, "tasks/list": true, "tasks/cancel": true,
}

// judgedRequests are the requests that are judged by their own names. All others are judged as (method).
var judgedRequests = map[string]bool{
	"resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true, "prompts/get": true, "completion/complete": true,
}

// isUnjudged reports whether a request passes without a question.
func (g *gate) isUnjudged(m *message) bool {
	return unjudged[m.method] || m.method == "subscriptions/listen" && g.onlyListens(m.params)
}

// onlyListens reports whether a client says which notifications it wants (since 2026-07-28), and of resources only those that the server has listed.
func (g *gate) onlyListens(params jsontext.Value) bool {
	all, err := members(params, []string{"notifications", "_meta"})
	if err != nil || len(all["_meta"]) > longestMeta {
		return false
	}
	delete(all, "_meta")
	wants, err := members(all["notifications"], []string{"resourceSubscriptions"})
	if err != nil || len(all) != 1 {
		return false
	}
	for name, v := range wants {
		var uris []string
		known := strings.HasSuffix(name, "ListChanged") && len(name) <= 64 && (v.Kind() == jsontext.KindTrue || v.Kind() == jsontext.KindFalse)
		if !known && (name != "resourceSubscriptions" || json.Unmarshal(v, &uris) != nil || !g.listing.hasAll("resources", uris)) {
			return false
		}
	}
	return true
}

// knownMethods are those that a server could take another spelling for.
var knownMethods = append(slices.Collect(maps.Keys(unjudged)), append(slices.Collect(maps.Keys(judgedRequests)), "tools/call", "subscriptions/listen")...)

// listedEnd ends the name under which a request is judged that says nothing but the address or name of what the server has listed.
const listedEnd = "_listed"

// isRequestName reports whether a request is judged under this name. The gateway does not distinguish letters by their case.
func isRequestName(name string) bool {
	return judgedRequests[strings.TrimSuffix(strings.ToLower(name), listedEnd)]
}

// requestParams are members of requests that are judged. What else is there is judged, too, unless a server could take it for one of these.
var requestParams = []string{"uri", "name", "arguments", "ref", "argument", "context", "_meta", "inputResponses", "requestState"}

// readRequest reads a request that is no call of a tool. All that it says is judged, but for what a call says beside its arguments.
func (g *gate) readRequest(m *message) (*call, error) {
	c := &call{name: m.method, request: true}
	if !judgedRequests[m.method] {
		c.name = "(" + m.method + ")"
	}
	if isOdd(c.name) || resembles(strings.TrimSpace(m.method), knownMethods) || strings.TrimSpace(m.method) != m.method {
		return nil, errors.New("the method of a request is too long, can't be shown, or could be taken for another one")
	}
	all := map[string]jsontext.Value{}
	if m.params != nil {
		var err error
		if all, err = members(m.params, requestParams); err != nil {
			return nil, err
		}
	}
	meta := all["_meta"]
	if len(meta) > longestMeta {
		return nil, errors.New("what a request says for programs is too long, and so is not verified")
	}
	c.responses, c.state = all["inputResponses"], all["requestState"]
	for _, name := range []string{"_meta", "inputResponses", "requestState"} {
		delete(all, name)
	}
	var err error
	if c.arguments, err = json.Marshal(all, json.Deterministic(true)); err != nil {
		return nil, err
	}
	if g.listing.holds(m.method, all) {
		c.name += listedEnd
	}
	if meta != nil {
		return c, c.readMeta(meta)
	}
	return c, nil
}

// listing is what a server has listed: addresses of resources, and names of prompts.
type listing struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]bool
}

// The member of a list, and of a request, that names one of what a server lists.
var (
	listNames    = map[string]string{"resources": "uri", "prompts": "name"}
	requestLists = map[string]string{"resources/read": "resources", "resources/subscribe": "resources", "resources/unsubscribe": "resources", "prompts/get": "prompts"}
)

// mostResources is how much is known of what a server lists.
const mostResources = 100_000

func listingKey(list, name string) [sha256.Size]byte {
	return sha256.Sum256([]byte(list + "\x00" + name))
}

// note notes what a server lists. What can't be read, and what is too much, asks later.
func (l *listing) note(method string, result jsontext.Value) {
	list := strings.TrimSuffix(method, "/list")
	key := listNames[list]
	if key == "" || result == nil {
		return
	}
	all, err := members(result, []string{list}, jsontext.AllowInvalidUTF8(true))
	var items []jsontext.Value
	if err != nil || json.Unmarshal(all[list], &items, jsontext.AllowInvalidUTF8(true)) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[[sha256.Size]byte]bool{}
	}
	for _, item := range items {
		one, err := members(item, []string{key}, jsontext.AllowInvalidUTF8(true))
		if name, ok := asString(one[key]); err == nil && ok && len(l.all) < mostResources {
			l.all[listingKey(list, name)] = true
		}
	}
}

// holds reports whether a request says nothing but what the server has listed: exactly this address, or this prompt without arguments.
func (l *listing) holds(method string, all map[string]jsontext.Value) bool {
	list := requestLists[method]
	key := listNames[list]
	name, ok := asString(all[key])
	if !ok {
		return false
	}
	for other, v := range all {
		if other != key && (other != "arguments" || method != "prompts/get" || !isEmpty(v)) {
			return false
		}
	}
	return l.hasAll(list, []string{name})
}

// hasAll reports whether the server has listed all of these.
func (l *listing) hasAll(list string, names []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(names, func(name string) bool { return !l.all[listingKey(list, name)] })
}

// isEmpty reports whether there are no arguments.
func isEmpty(v jsontext.Value) bool {
	all, err := members(v, nil)
	return v.Kind() == jsontext.KindNull || err == nil && len(all) == 0
}
