package protocol

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// events is what each event is on the wire. Null is not given.
var events = map[Name]func(*jsontext.Decoder, *Event) error{
	ContextAssembled:   into((*Event).loop),
	LoopIterationStart: into((*Event).loop),
	BeforeLLMCall:      into((*Event).loop),
	AfterLLMCall:       into((*Event).loop),
	LoopIterationEnd:   into((*Event).loop),
	AfterToolCall:      into(func(e *Event) *Returned { return &e.Returned }),
	BeforeResponseEmit: into(func(e *Event) *Emitted { return &e.Emitted }),
	SubagentSpawned:    into(func(e *Event) *Spawned { return &e.Spawned }),
	SessionEnd:         into(func(e *Event) *Ended { return &e.Ended }),
	CronChanged:        into(func(e *Event) *Job { return &e.Job }),
	QuestionAnswered:   into(func(e *Event) *Answered { return &e.Answered }),
	SaysHello:          into(func(e *Event) *Hello { return &e.Hello }),
	SessionStart:       into(func(*Event) *sessionStart { return new(sessionStart) }),
	AgentEnd:           into(func(*Event) *agentEnd { return new(agentEnd) }),
	ResetRequested:     into(func(*Event) *resetRequested { return new(resetRequested) }),
}

type (
	sessionStart struct {
		ResumedFrom string `json:"resumedFrom"`
	}
	agentEnd struct {
		Success    bool  `json:"success"`
		DurationMs int64 `json:"durationMs"`
	}
	resetRequested struct {
		Command command `json:"command" need:"true"`
	}
)

func (e *Event) loop() *Loop { return &e.Loop }

// into reads an event's object into a part of it.
func into[T any](part func(*Event) *T) func(*jsontext.Decoder, *Event) error {
	return func(dec *jsontext.Decoder, e *Event) error {
		var o object[T]
		if err := o.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		*part(e) = o.Is
		return e.finish()
	}
}

// DecodeEvent reads one event. Every error it returns is a [*Malformed].
func DecodeEvent(name Name, body []byte) (e Event, err error) {
	e.Name = name
	if events[name] == nil {
		return Event{}, malformed("There is no event of this name.")
	}
	call, _, err := decode(body, form{most: MaxEventBody, event: &e})
	if err == nil && !e.read {
		err = malformed("event is missing.")
	}
	if err != nil {
		return Event{}, err
	}
	e.Call = call
	return e, nil
}

// UnmarshalJSONFrom reads what an event of this name is made of. Other bodies have no event.
func (e *Event) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	read := events[e.Name]
	if read == nil {
		return errNoMember
	}
	e.read = true
	return read(dec, e)
}

// finish checks what no tag says, and works out what follows from what was sent.
func (e *Event) finish() error {
	switch r := &e.Returned; e.Name { //nolint:exhaustive // the tags say all of the others
	case ContextAssembled, LoopIterationStart, BeforeLLMCall, AfterLLMCall, LoopIterationEnd:
		return e.finishLoop()
	case AfterToolCall:
		if r.Tool = Canonical(r.Sent); r.Tool == "" {
			return &wrong{"toolName", "must not be empty"}
		}
		if r.Result.Hash != "" { // counts before a hash that the runtime made
			r.Hash, r.Text = r.Result.Hash, r.Result.Text
		}
	case BeforeResponseEmit:
		if e.Content == nil && e.ContentHash != "" {
			e.Content = &Text{Hash: e.ContentHash}
		}
	case SubagentSpawned:
		if CanonicalKey(e.Child) == "" {
			return &wrong{"childSessionKey", "must not be empty"}
		}
	case SaysHello: // people read it as it is
		h, unseen := &e.Hello, func(r rune) bool { return !unicode.IsPrint(r) }
		if strings.ContainsFunc(h.Name+h.Version+h.Instance+h.FailMode+h.Scope, unseen) {
			return &wrong{must: "holds a character that can't be seen"}
		}
	}
	return nil
}

// missing is the member that is not there although its event needs it.
func (e *Event) missing() string {
	switch {
	case e.Name == ContextAssembled && e.Sources == nil:
		return "sources"
	case e.Name == BeforeLLMCall && e.Offered == nil:
		return "tools"
	case e.Name == AfterLLMCall && e.Wanted == nil:
		return "toolCalls"
	case (e.Name == LoopIterationStart || e.Name == LoopIterationEnd) && e.Iteration == nil:
		return "iteration"
	}
	return ""
}

func (e *Event) finishLoop() error {
	if name := e.missing(); name != "" {
		return &wrong{name, "is missing"}
	}
	for i := range e.Sources {
		s := &e.Sources[i]
		if s.Tool = Canonical(s.Sent); s.Tool == "" && s.Sent != "" {
			return &wrong{"sources", "must name tools by names that are not empty"}
		}
	}
	for _, t := range e.Offered {
		if e.Tools = append(e.Tools, t.Name); Canonical(t.Name) == "" {
			return &wrong{"tools", "must have names that are not empty"}
		}
		if t.Metadata {
			e.Cautioned = append(e.Cautioned, t.Name)
		}
	}
	for i := range e.Wanted {
		w := &e.Wanted[i]
		if w.Arguments == nil || w.Arguments.Kind() == jsontext.KindNull {
			w.Arguments = jsontext.Value("{}")
		}
		if w.Arguments.Kind() != jsontext.KindBeginObject {
			return &wrong{"toolCalls", "must have arguments that are objects"}
		}
	}
	if e.Messages = e.Conversation.Hash; e.Usage != nil {
		e.Tokens = e.Usage.Is.tokens()
	}
	return nil
}

// caution reports whether a tool's metadata, which others wrote for others, asks for caution.
type caution bool

func (c *caution) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
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

// usage is what a call of the model took. Each is at most 32 bits, so that no sum overflows.
type usage struct {
	Input      int32 `json:"input"`
	Output     int32 `json:"output"`
	CacheRead  int32 `json:"cacheRead"`
	CacheWrite int32 `json:"cacheWrite"`
	Total      int32 `json:"total"`
}

func (u *usage) tokens() Tokens {
	t := Tokens{Input: int64(u.Input), Output: int64(u.Output), Cached: int64(u.CacheRead) + int64(u.CacheWrite)}
	if t.Total = max(int64(u.Total), t.Input+t.Output); u.Total == 0 {
		t.Total += t.Cached
	}
	return t
}

// command is how a conversation is begun anew.
type command string

func (c *command) UnmarshalText(text []byte) error {
	if *c = command(text); !slices.Contains([]command{"new", "reset"}, *c) {
		return &wrong{must: "must be new or reset"}
	}
	return nil
}
