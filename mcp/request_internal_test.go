package mcp

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestH749AQuestionAboutOtherServersIsFoundBesideOtherSpellings: a client reads the exact names.
func TestH749AQuestionAboutOtherServersIsFoundBesideOtherSpellings(t *testing.T) {
	const asks = `"method":"sampling/createMessage","params":{"includeContext":"allServers"}`
	for _, result := range []string{
		`{"inputRequests":{"a":{` + asks + `}}}`, `{"inputRequests":{"a":{` + asks + `,"Method":"x"}}}`, `{"inputRequests":{"a":{` + asks + `},"b":{"method":7}}}`,
		`{"InputRequests":{},"inputRequests":{"a":{` + asks + `}}}`, `{"inputRequests":{"a":{` + asks + `,"PARAMS":{}}}}`, `{"inputrequests":[],"inputRequests":{"a":{` + asks + `}}}`,
	} {
		if !asksForOthers(jsontext.Value(result)) {
			t.Errorf("%s passes", result)
		}
		b := newBench(t)
		b.client(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`)
		b.server.wait(t, `"id":1`)
		b.serves(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)
		b.serves(`{"jsonrpc":"2.0","method":"notifications/tasks","params":` + result + `}`)
		if got := b.toClient.text(); strings.Contains(got, "allServers") {
			t.Errorf("the client got %s", got)
		}
	}
	for _, result := range []string{`{}`, `{"content":[]}`, `{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}}}`, `{"inputRequests":{"a":{"method":"sampling/createMessage","params":{"includeContext":"thisServer"}}}}`} {
		if asksForOthers(jsontext.Value(result)) {
			t.Errorf("%s does not pass", result)
		}
	}
}
