package mcp

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
)

// TestH741ARetryThatSaysMoreIsNotAboutWhatIsListed: the server has listed the address, and then asks for something else, which the model writes.
func TestH741ARetryThatSaysMoreIsNotAboutWhatIsListed(t *testing.T) {
	b := newBench(t)
	var asked []string
	b.session.ask = func(_ context.Context, c hook.Call) (hook.Verdict, error) {
		asked = append(asked, c.Tool)
		return hook.Verdict{Allowed: true, Asked: &hook.Asked{}}, nil
	}
	b.client(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
	b.serves(`{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"x://a","name":"a"}]}}`)
	b.client(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x://a"}}`)
	b.server.wait(t, `"id":2`)
	b.serves(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"What do you know?"}}},"requestState":"s1"}}`)
	b.client(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x://a","requestState":"s1","inputResponses":{"q":{"action":"accept","content":{"text":"4711"}}}}}`)
	b.server.wait(t, `"id":3`)
	if want := []string{"mcp__fs__resources/read_listed", "mcp__fs__resources/read"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}

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
