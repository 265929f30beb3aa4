package loop

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// Decode reads one event. Every error it returns is a [*toolcall.Malformed].
func Decode(name Name, body []byte) (Event, error) {
	fields, known := shapes[name]
	if !known {
		return Event{}, malformed("There is no event of this name.")
	}
	call, about, err := toolcall.DecodeAbout(body, MaxBody, "event")
	if err != nil {
		return Event{}, err
	}
	e := Event{Name: name, Call: call}
	if err := e.read(fields, about); err != nil {
		return Event{}, err
	}
	return e, nil
}

func malformed(reason string) error { return &toolcall.Malformed{Reason: reason} }

// field is one member that an event may have.
type field struct {
	name   string
	needed bool
	read   func(e *Event, v value) error
}

func needed(name string, read func(e *Event, v value) error) field { return field{name, true, read} }

func optional(name string, read func(e *Event, v value) error) field { return field{name, false, read} }

// shapes is what each event is made of. Other members are passed over: a runtime
// may send its event as it is.
var shapes = map[Name][]field{
	SessionStart:       {optional("resumedFrom", ignoredText)},
	ContextAssembled:   {needed("sources", sources), optional("systemPrompt", systemPrompt), optional("messages", messages)},
	LoopIterationStart: {needed("iteration", iteration), optional("pendingToolResults", ignoredCount), optional("messageCount", ignoredCount)},
	BeforeLLMCall: {
		needed("tools", tools), optional("iteration", iteration), optional("model", model), optional("tokenEstimate", ignoredCount),
		optional("systemPrompt", systemPrompt), optional("messages", messages),
	},
	AfterLLMCall: {
		needed("toolCalls", toolCalls), optional("iteration", iteration), optional("model", model), optional("latencyMs", latency),
		optional("tokenUsage", tokenUsage), optional("response", response), optional("messages", messages),
	},
	AfterToolCall: {
		needed("toolName", toolName), optional("toolCallId", toolCallID), optional("error", failed), optional("durationMs", duration),
		optional("size", size), optional("contentHash", resultHash), optional("origin", origin), optional("jobId", returnedJob), optional("childSessionKey", returnedChild), optional("marked", marked), optional("secret", holdsSecret), optional("changed", changed),
		optional("fingerprints", fingerprints), optional("truncated", truncated), optional("result", result),
	},
	LoopIterationEnd: {
		needed("iteration", iteration), optional("toolCallsMade", ignoredCount), optional("newMessagesAdded", ignoredCount),
		optional("willContinue", ignoredFlag),
	},
	BeforeResponseEmit: {optional("content", content), optional("contentHash", contentHash), optional("channel", ignoredText)},
	AgentEnd:           {optional("success", ignoredFlag), optional("durationMs", ignoredCount)},
	SubagentSpawned:    {needed("childSessionKey", child), optional("childRunId", ignoredText), optional("agentId", ignoredText), optional("mode", ignoredText)},
	CronChanged:        {needed("action", jobAction), needed("jobId", jobID), optional("sessionTarget", jobTarget), optional("outside", jobOutside)},
	SessionEnd:         {optional("reason", reason), optional("nextSessionId", nextSessionID), optional("nextSessionKey", nextSessionKey)},
	ResetRequested:     {needed("command", resetCommand)},
	QuestionAnswered:   {needed("question", question), optional("ran", ran), optional("replaced", replaced)},
	SaysHello: {
		needed("runtime", helloText(func(h *Hello) *string { return &h.Name })), needed("version", helloText(func(h *Hello) *string { return &h.Version })),
		optional("instance", helloText(func(h *Hello) *string { return &h.Instance })), optional("failMode", helloText(func(h *Hello) *string { return &h.FailMode })),
		optional("scope", helloText(func(h *Hello) *string { return &h.Scope })), optional("off", helloFlag(func(h *Hello) *bool { return &h.Off })),
		optional("blind", helloFlag(func(h *Hello) *bool { return &h.Blind })),
	},
}

// read meets each member once, by its exact name. Null means that an optional
// member is not given.
func (e *Event) read(fields []field, about jsontext.Value) error {
	met, err := members("event", about, fields, func(f field, v value) error { return f.read(e, v) })
	if err != nil {
		return err
	}
	for _, f := range fields {
		if f.needed && !met[f.name] {
			return malformed("event." + f.name + " is missing.")
		}
	}
	return nil
}

// members calls read for each member of an object that is one of the fields and
// not null, and says which were there.
func members(what string, object jsontext.Value, fields []field, read func(f field, v value) error) (map[string]bool, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true)) // the body has none
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginObject {
		return nil, malformed(what + " must be an object.")
	}
	met := make(map[string]bool, len(fields))
	for dec.PeekKind() == jsontext.KindString {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, malformed(what + " could not be read.")
		}
		f, known, err := find(what, tok.String(), fields)
		if err != nil {
			return nil, err
		}
		raw, errValue := dec.ReadValue()
		switch {
		case errValue != nil:
			return nil, malformed(what + " could not be read.")
		case !known || raw.Kind() == jsontext.KindNull:
			continue
		}
		met[f.name] = true
		if err := read(f, value{what + "." + f.name, raw}); err != nil {
			return nil, err
		}
	}
	return met, nil
}

// find names the field. A name that differs from a known one only in case would
// be the known one for a reader that folds case.
func find(what, name string, fields []field) (field, bool, error) {
	for _, f := range fields {
		if f.name == name {
			return f, true, nil
		}
		if strings.EqualFold(f.name, name) {
			return field{}, false, malformed(what + " has a member whose name differs from a known one only in case.")
		}
	}
	return field{}, false, nil
}
