package protocol

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/taint"
)

// fields is what an event of this name is made of; nil: there is no such event.
func (e *Event) fields() []field {
	var (
		number   = checked(value.count)
		text     = checked(value.plain)
		flag     = checked(value.flag)
		round    = into(&e.Iteration, value.iteration)
		messages = optional("messages", into(&e.Messages, value.hashOfAny))
		prompt   = optional("systemPrompt", into(&e.SystemPrompt, value.hashedText))
		model    = optional("model", into(&e.Model, value.id))
	)
	switch e.Name {
	case SessionStart:
		return []field{optional("resumedFrom", text)}
	case ContextAssembled:
		return []field{needed("sources", into(&e.Sources, value.sources)), prompt, messages}
	case LoopIterationStart:
		return []field{needed("iteration", round), optional("pendingToolResults", number), optional("messageCount", number)}
	case BeforeLLMCall:
		return []field{needed("tools", e.readTools), optional("iteration", round), model, optional("tokenEstimate", number), prompt, messages}
	case AfterLLMCall:
		return []field{
			needed("toolCalls", into(&e.Wanted, value.toolCalls)), optional("iteration", round), model, optional("latencyMs", into(&e.LatencyMs, value.count)),
			optional("tokenUsage", into(&e.Tokens, value.tokens)), optional("response", into(&e.Response, value.hashOfAny)), messages,
		}
	case AfterToolCall:
		return e.Returned.fields()
	case LoopIterationEnd:
		return []field{needed("iteration", round), optional("toolCallsMade", number), optional("newMessagesAdded", number), optional("willContinue", flag)}
	case BeforeResponseEmit:
		return []field{optional("content", into(&e.Content, value.hashedText)), optional("contentHash", e.readContentHash), optional("channel", text)}
	case AgentEnd:
		return []field{optional("success", flag), optional("durationMs", number)}
	case SubagentSpawned:
		return []field{needed("childSessionKey", into(&e.Child, value.sessionKey)), optional("childRunId", text), optional("agentId", text), optional("mode", text)}
	case CronChanged:
		return []field{
			needed("action", into(&e.Job.Action, value.id)), needed("jobId", into(&e.Job.ID, value.id)),
			optional("sessionTarget", into(&e.Job.Target, value.id)), optional("outside", into(&e.Job.Outside, value.flag)),
		}
	case SessionEnd:
		return []field{optional("reason", into(&e.Reason, value.id)), optional("nextSessionId", into(&e.NextSessionID, value.id)), optional("nextSessionKey", into(&e.NextSessionKey, value.id))}
	case ResetRequested:
		return []field{needed("command", checked(value.resetCommand))}
	case QuestionAnswered:
		return []field{needed("question", into(&e.Answered.Ticket, value.ticket)), optional("ran", into(&e.Answered.Ran, value.flag))}
	case SaysHello:
		return e.Hello.fields()
	case BeforeToolCall: // a call, see [DecodeNotice]
	}
	return nil
}

func (h *Hello) fields() []field {
	return []field{
		needed("runtime", into(&h.Name, value.visible)), needed("version", into(&h.Version, value.visible)),
		optional("instance", into(&h.Instance, value.visible)), optional("failMode", into(&h.FailMode, value.visible)),
		optional("scope", into(&h.Scope, value.visible)), optional("off", into(&h.Off, value.flag)), optional("blind", into(&h.Blind, value.flag)),
	}
}

func (r *Returned) fields() []field {
	return []field{
		needed("toolName", func(v value) (err error) {
			r.Sent, err = v.name()
			r.Tool = Canonical(r.Sent)
			return err
		}),
		optional("toolCallId", into(&r.ToolCallID, value.id)), optional("error", into(&r.Error, value.flag)),
		optional("durationMs", into(&r.DurationMs, value.count)), optional("size", into(&r.Size, value.count)),
		optional("contentHash", func(v value) error { // counts where the result itself is not there
			h, err := v.hash()
			if r.Hash == "" {
				r.Hash = h
			}
			return err
		}),
		optional("origin", into(&r.Origin, func(v value) (string, error) { return v.text(MaxOrigin) })),
		optional("jobId", into(&r.Job, value.id)), optional("childSessionKey", into(&r.Child, value.id)),
		optional("marked", into(&r.Marked, value.flag)), optional("secret", into(&r.Secret, value.flag)), optional("changed", into(&r.Changed, value.flag)),
		optional("fingerprints", into(&r.Seen, value.fingerprints)),
		optional("result", func(v value) error {
			r.Hash, r.Text = v.hashed()
			return nil
		}),
	}
}

// readContentHash counts where the content itself is not there.
func (e *Event) readContentHash(v value) error {
	h, err := v.hash()
	if e.Content == nil {
		e.Content = &Text{Hash: h}
	}
	return err
}

// tokens reads what a call of the model took. Each is at most 32 bits, so that no sum overflows.
func (v value) tokens() (t Tokens, err error) {
	var read, written, total int64
	err = v.members(
		optional("input", into(&t.Input, value.smallCount)), optional("output", into(&t.Output, value.smallCount)),
		optional("cacheRead", into(&read, value.smallCount)), optional("cacheWrite", into(&written, value.smallCount)),
		optional("total", into(&total, value.smallCount)),
	)
	t.Cached = read + written
	t.Total = max(total, t.Input+t.Output)
	if total == 0 {
		t.Total += t.Cached
	}
	return t, err
}

// sessionKey is the key of a session that there is.
func (v value) sessionKey() (string, error) {
	key, err := v.id()
	if err == nil && CanonicalKey(key) == "" {
		return "", malformed(v.what + " must not be empty.")
	}
	return key, err
}

// visible is shown to people as it is.
func (v value) visible() (string, error) {
	text, err := v.text(MaxOrigin)
	if err == nil && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", malformed(v.what + " holds a character that can't be seen.")
	}
	return text, err
}

func (v value) resetCommand() (string, error) {
	text, err := v.plain()
	if err == nil && text != "new" && text != "reset" {
		return "", malformed(v.what + " must be new or reset.")
	}
	return text, err
}

// maxTicket is how long the name of a question is at most.
const maxTicket = 256

func (v value) ticket() (string, error) {
	ticket, err := v.text(maxTicket)
	if err == nil && ticket == "" {
		return "", malformed(v.what + " must name a question.")
	}
	return ticket, err
}

func (e *Event) readTools(v value) error {
	e.Tools = []string{}
	return v.each(MaxTools, func(entry value) error {
		name, cautioned := "", false
		err := entry.members(optional("name", into(&name, value.name)), optional("metadata", func(v value) error {
			cautioned = string(v.at("openclaw").at("caution").raw) == "true"
			return nil
		}))
		if err == nil && name == "" {
			return malformed(entry.what + " must have a name.")
		}
		e.Tools = append(e.Tools, name)
		if cautioned {
			e.Cautioned = append(e.Cautioned, name)
		}
		return err
	})
}

func (v value) toolCalls() (all []Wanted, err error) {
	all = []Wanted{}
	err = v.each(MaxToolCalls, func(entry value) error {
		w := Wanted{Arguments: jsontext.Value("{}"), Sent: bytes.Clone(entry.raw)}
		err := entry.members(optional("id", into(&w.ID, value.id)), optional("name", into(&w.Name, value.name)), optional("arguments", into(&w.Arguments, value.object)))
		if err == nil && w.Name == "" {
			return malformed(entry.what + " must have a name.")
		}
		all = append(all, w)
		return err
	})
	return all, err
}

func (v value) fingerprints() (prints Fingerprints, err error) {
	if json.Unmarshal(v.raw, &prints) != nil || v.raw.Kind() != jsontext.KindString || !prints.Valid() {
		return nil, malformed(v.what + " must be base64 of at most 512 times 8 bytes.")
	}
	return prints, nil
}

func (v value) sources() (all []Source, err error) {
	all = []Source{}
	err = v.each(MaxSources, func(entry value) error {
		var s Source
		err := entry.members(
			optional("kind", into(&s.Kind, value.kind)), optional("trust", into(&s.Trust, value.level)), optional("tool", into(&s.Sent, value.name)),
			optional("messageIndex", func(v value) error {
				n, err := v.count()
				s.Index = &n
				return err
			}),
			optional("senderId", into(&s.SenderID, value.id)), optional("senderIsOwner", into(&s.SenderIsOwner, value.flag)),
			optional("size", into(&s.Size, value.count)), optional("contentHash", into(&s.Hash, value.hash)),
			optional("fingerprints", into(&s.Seen, value.fingerprints)),
		)
		if err == nil && s.Kind == "" {
			return malformed(entry.what + " must have a kind.")
		}
		s.Tool = Canonical(s.Sent)
		all = append(all, s)
		return err
	})
	return all, err
}

func (v value) kind() (Kind, error) {
	text, err := v.plain()
	switch k := Kind(text); k {
	case KindSystemPrompt, KindUserMessage, KindToolResult, KindCompactedHistory:
		return k, err
	}
	return "", malformed(v.what + " must be system_prompt, user_message, tool_result or compacted_history.")
}

func (v value) level() (*taint.Level, error) {
	text, err := v.plain()
	if err != nil {
		return nil, err
	}
	level, err := taint.ParseLevel(text)
	if err != nil {
		return nil, malformed(v.what + " must be one of the six levels.")
	}
	return &level, nil
}
