package protocol

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// events are the events that are read, and the part of an event that is read for each.
var events = map[Name]func(*Event) any{
	SessionStart:       nothing,
	ContextAssembled:   (*Event).loop,
	LoopIterationStart: (*Event).loop,
	BeforeLLMCall:      (*Event).loop,
	AfterLLMCall:       (*Event).loop,
	LoopIterationEnd:   (*Event).loop,
	AfterToolCall:      func(e *Event) any { return &e.Returned },
	BeforeResponseEmit: func(e *Event) any { return &e.Emitted },
	AgentEnd:           nothing,
	SubagentSpawned:    func(e *Event) any { return &e.Spawned },
	SessionEnd:         func(e *Event) any { return &e.Ended },
	CronChanged:        func(e *Event) any { return &e.Job },
	ResetRequested:     func(*Event) any { return new(resetRequested) },
	QuestionAnswered:   func(e *Event) any { return &e.Answered },
	SaysHello:          func(e *Event) any { return &e.Hello },
}

func (e *Event) loop() any { return &e.Loop }

func nothing(*Event) any { return new(struct{}) }

// resetRequested says how a conversation is begun anew.
type resetRequested struct {
	Command string `json:"command" need:"always"`
}

func (q *resetRequested) check() error {
	if q.Command != "new" && q.Command != "reset" {
		return &wrong{"command", "must be new or reset"}
	}
	return nil
}

// DecodeEvent reads one event. Every error it returns is a [*Malformed].
func DecodeEvent(name Name, text []byte) (Event, error) {
	if events[name] == nil {
		return Event{}, malformed("There is no event of this name.")
	}
	var b struct {
		message
		Event Event `json:"event" need:"always"`
	}
	call, err := decode(text, MaxEventBody, name, &b, &b.message)
	if err != nil {
		return Event{}, err
	}
	b.Event.Call = call
	return b.Event, nil
}

func (e *Event) read(r *reader) error {
	if r.peek() == 'n' { // null is not given
		_, err := r.next()
		return err
	}
	e.Name = r.event
	return r.object(events[e.Name](e))
}

func (s *Source) check() error {
	if s.Tool = Canonical(s.Sent); s.Tool == "" && s.Sent != "" {
		return &wrong{"tool", "must not be empty"}
	}
	return nil
}

func (o *Offered) check() error {
	if Canonical(o.Name) == "" {
		return &wrong{"name", "must not be empty"}
	}
	return nil
}

func (t *Returned) check() error {
	if t.Result.Hash != "" { // counts before a hash that the runtime made
		t.Hash = t.Result.Hash
	}
	if t.Tool = Canonical(t.Sent); t.Tool == "" {
		return &wrong{"toolName", "must not be empty"}
	}
	return nil
}

func (s *Spawned) check() error {
	if CanonicalKey(s.Child) == "" {
		return &wrong{"childSessionKey", "must not be empty"}
	}
	return nil
}

// check refuses what people could not read as it is.
func (h *Hello) check() error {
	unseen := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(h.Name+h.Version+h.Instance+h.FailMode+h.Scope, unseen) {
		return &wrong{must: "holds a character that can't be seen"}
	}
	return nil
}

// caution reports whether a tool's metadata, which others wrote for others, asks for caution.
type caution bool

func (c *caution) read(r *reader) error {
	raw, err := r.whole()
	var said struct {
		OpenClaw struct {
			Caution jsontext.Value `json:"caution"`
		} `json:"openclaw"`
	}
	if err == nil && json.Unmarshal(raw, &said) == nil {
		*c = string(said.OpenClaw.Caution) == "true"
	}
	return err
}
