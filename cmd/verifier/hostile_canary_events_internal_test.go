package main

import (
	"net/http"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/redact/redacttest"
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
		p.tell(event{name: "before_response_emit", context: ctx, about: `{"contentHash":` + text("broken hash") + `,` + text("member") + `:1}`})
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
