package main

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
	"github.com/openclaw-verifier/verifier/session"
)

// inEvents plants in what a runtime tells of its loop: in texts, which are
// dropped, and in names, some of which the store needs.
func (p *planter) inEvents() {
	for kind := range redacttest.Canaries() {
		text := func(place string) string { return quoted(p.text(kind, 0, "in an event's "+place)) }
		kept := func(place string) string { return quoted(p.text(kind, 0, "in an event's "+place, storeFiles)) }
		ctx := anew(true)
		p.tell(event{name: "context_assembled", context: ctx, about: `{"sources":[{"kind":"user_message","senderId":` + text("sender") + `,"senderIsOwner":true},{"kind":"tool_result","trust":"local","tool":"read"}],"systemPrompt":` + text("system prompt") + `,"messages":[` + text("messages") + `]}`})
		p.tell(event{name: "before_llm_call", context: ctx, about: `{"tools":[{"name":` + text("tools") + `}],"model":` + text("model") + `,"systemPrompt":` + text("prompt") + `}`})
		p.tell(event{name: "after_llm_call", context: ctx, about: `{"toolCalls":[{"id":` + text("call id") + `,"name":` + text("call") + `,"arguments":{"password":` + text("arguments") + `}}],"response":` + text("response") + `}`})
		p.tell(event{name: "after_tool_call", context: ctx, about: `{"toolName":"web_fetch","toolCallId":` + text("tool call id") + `,"result":` + text("result") + `}`})
		p.tell(event{name: "after_tool_call", context: ctx, about: `{"toolName":"web_fetch","origin":` + text("origin") + `}`})
		p.tell(event{name: "after_tool_call", context: ctx, about: `{"toolName":` + text("tool") + `}`})
		p.send(impatient(sh("date", ctx))) // the card says what brought it in
		p.tell(event{name: "subagent_spawned", context: ctx, about: `{"childSessionKey":` + kept("child") + `}`})
		p.tell(event{name: "session_end", context: ctx, about: `{"reason":` + text("reason") + `,"nextSessionId":` + kept("next session") + `,"nextSessionKey":` + kept("next key") + `}`})
		p.tell(event{name: "agent_end", context: with(ctx, "runId", p.text(kind, 0, "in an event's run"))})
		p.graphs(ctx)
		p.tell(event{name: "before_response_emit", context: ctx, about: `{"contentHash":` + text("broken hash") + `,` + text("member") + `:1}`})
	}
}

// graphs looks at the turn that was told of.
func (p *planter) graphs(ctx map[string]any) {
	p.t.Helper()
	ref := session.Conversation{Client: config.DefaultClient, Key: fmt.Sprint(ctx["sessionKey"])}.Ref()
	for _, format := range []string{"json", "text", "svg"} {
		if got := p.do(&p.answers, http.MethodGet, "/api/graphs/"+ref+"?format="+format, nil, "Authorization", "Bearer "+p.token); !bytes.Contains(got, []byte("llm_call")) {
			p.t.Errorf("no graph: %s", got)
		}
	}
}

// tell signs an event.
func (p *planter) tell(e event) {
	p.t.Helper()
	body := e.body()
	headers := []string{hmac.RequestHeader, hmac.Sign([]byte(p.secret), body)}
	if p.bearer != "" {
		headers = append(headers, "Authorization", "Bearer "+p.bearer)
	}
	p.do(&p.answers, http.MethodPost, "/hooks/"+e.name, body, headers...)
}
