package mcp

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A request for a resource or a prompt can carry out what a call can: an address is text of the model's. So each
// request is judged as a call of a tool of which nothing is known.

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
func isUnjudged(m *message) bool {
	return unjudged[m.method] || m.method == "subscriptions/listen" && onlyListens(m.params)
}

// onlyListens reports whether a client says which changes of lists it wants to hear of, and nothing else (since
// 2026-07-28).
func onlyListens(params jsontext.Value) bool {
	all, err := members(params, []string{"notifications", "_meta"})
	if err != nil || len(all["_meta"]) > longestMeta {
		return false
	}
	delete(all, "_meta")
	wants, err := members(all["notifications"], nil)
	if err != nil || len(all) != 1 {
		return false
	}
	for name, v := range wants {
		isBool := v.Kind() == jsontext.KindTrue || v.Kind() == jsontext.KindFalse
		if !isBool || !strings.HasSuffix(name, "ListChanged") || len(name) > 64 {
			return false
		}
	}
	return true
}

// knownMethods are those that a server could take another spelling for.
var knownMethods = append(slices.Collect(maps.Keys(unjudged)), append(slices.Collect(maps.Keys(judgedRequests)), "tools/call", "subscriptions/listen")...)

// isRequestName reports whether a request is judged under this name. The gateway does not distinguish letters by their case.
func isRequestName(name string) bool {
	return judgedRequests[strings.ToLower(name)]
}

// requestParams are members of requests that are judged. What else is there is judged, too, unless a server could take it for one of these.
var requestParams = []string{"uri", "name", "arguments", "ref", "argument", "context", "_meta", "inputResponses", "requestState"}

// readRequest reads a request that is no call of a tool. All that it says is judged, but for what a call says beside its arguments.
func readRequest(m *message) (*call, error) {
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
	if meta != nil {
		return c, c.readMeta(meta)
	}
	return c, nil
}
