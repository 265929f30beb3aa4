package loop

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// What is only looked at, so that it has the type it must have.
func ignoredText(_ *Event, v value) error {
	_, err := v.plain()
	return err
}

func ignoredCount(_ *Event, v value) error {
	_, err := v.count(64)
	return err
}

func ignoredFlag(_ *Event, v value) error {
	_, err := v.flag()
	return err
}

func iteration(e *Event, v value) error {
	n, err := v.count(32)
	i := int(n)
	e.Iteration = &i
	return err
}

func model(e *Event, v value) (err error) {
	e.Model, err = v.id()
	return err
}

func latency(e *Event, v value) (err error) {
	e.LatencyMs, err = v.count(64)
	return err
}

var tokenFields = []field{{name: "input"}, {name: "output"}, {name: "cacheRead"}, {name: "cacheWrite"}, {name: "total"}}

// tokenUsage reads what a call of the model took. Each is at most 32 bits, so that
// no sum overflows.
func tokenUsage(e *Event, v value) error {
	t, total := &e.Tokens, int64(0)
	_, err := members(v.what, v.raw, tokenFields, func(f field, v value) error {
		n, err := v.count(32)
		switch f.name {
		case "input":
			t.Input = n
		case "output":
			t.Output = n
		case "total":
			total = n
		default:
			t.Cached += n
		}
		return err
	})
	t.Total = max(total, t.Input+t.Output)
	if total == 0 {
		t.Total += t.Cached
	}
	return err
}

func systemPrompt(e *Event, v value) error {
	text, err := v.plain()
	e.SystemPrompt = &Text{HashOf(text), text}
	return err
}

func messages(e *Event, v value) error {
	e.Messages, _ = v.hashed()
	return nil
}

func response(e *Event, v value) error {
	e.Response, _ = v.hashed()
	return nil
}

func content(e *Event, v value) error {
	text, err := v.plain()
	e.Content = &Text{HashOf(text), text}
	return err
}

// contentHash counts where the content itself is not there.
func contentHash(e *Event, v value) error {
	h, err := v.hash()
	if e.Content == nil {
		e.Content = &Text{Hash: h}
	}
	return err
}

func child(e *Event, v value) (err error) {
	if e.Child, err = v.id(); err == nil && toolcall.CanonicalKey(e.Child) == "" {
		return malformed(v.what + " must not be empty.")
	}
	return err
}

func jobAction(e *Event, v value) (err error) {
	e.Job.Action, err = v.id()
	return err
}

func jobID(e *Event, v value) (err error) {
	e.Job.ID, err = v.id()
	return err
}

func jobTarget(e *Event, v value) (err error) {
	e.Job.Target, err = v.id()
	return err
}

func jobOutside(e *Event, v value) (err error) {
	e.Job.Outside, err = v.flag()
	return err
}

func returnedJob(e *Event, v value) (err error) {
	e.Returned.Job, err = v.id()
	return err
}

func returnedChild(e *Event, v value) (err error) {
	e.Returned.Child, err = v.id()
	return err
}

// helloText is shown to people as it is, so that it must be visible.
func helloText(of func(*Hello) *string) func(*Event, value) error {
	return func(e *Event, v value) error {
		text, err := v.text(MaxOrigin)
		if err == nil && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return malformed(v.what + " holds a character that can't be seen.")
		}
		*of(&e.Hello) = text
		return err
	}
}

func helloFlag(of func(*Hello) *bool) func(*Event, value) error {
	return func(e *Event, v value) (err error) {
		*of(&e.Hello), err = v.flag()
		return err
	}
}

func reason(e *Event, v value) (err error) {
	e.Reason, err = v.id()
	return err
}

func resetCommand(_ *Event, v value) error {
	switch text, err := v.plain(); {
	case err != nil:
		return err
	case text != "new" && text != "reset":
		return malformed(v.what + " must be new or reset.")
	}
	return nil
}

// maxTicket is how long the name of a question is at most.
const maxTicket = 256

func question(e *Event, v value) (err error) {
	if e.Answered.Ticket, err = v.text(maxTicket); err == nil && e.Answered.Ticket == "" {
		return malformed(v.what + " must name a question.")
	}
	return err
}

func ran(e *Event, v value) (err error) {
	e.Answered.Ran, err = v.flag()
	return err
}

func replaced(e *Event, v value) (err error) {
	e.Answered.Replaced, err = v.flag()
	return err
}

func nextSessionID(e *Event, v value) (err error) {
	e.NextSessionID, err = v.id()
	return err
}

func nextSessionKey(e *Event, v value) (err error) {
	e.NextSessionKey, err = v.id()
	return err
}

var toolFields = []field{{name: "name", needed: true}, {name: "metadata"}}

func tools(e *Event, v value) error {
	e.Tools = []string{}
	return v.each(MaxTools, func(entry value) error {
		name, cautioned := "", false
		_, err := members(entry.what, entry.raw, toolFields, func(f field, v value) (err error) {
			if f.name == "metadata" {
				cautioned = v.at("openclaw").at("caution").is("true")
				return nil
			}
			name, err = v.name()
			return err
		})
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

var toolCallFields = []field{{name: "id"}, {name: "name", needed: true}, {name: "arguments"}}

func toolCalls(e *Event, v value) error {
	e.Wanted = []Wanted{}
	return v.each(MaxToolCalls, func(entry value) error {
		w := Wanted{Arguments: jsontext.Value("{}"), Sent: bytes.Clone(entry.raw)}
		_, err := members(entry.what, entry.raw, toolCallFields, w.read)
		if err == nil && w.Name == "" {
			return malformed(entry.what + " must have a name.")
		}
		e.Wanted = append(e.Wanted, w)
		return err
	})
}

func (w *Wanted) read(f field, v value) (err error) {
	switch f.name {
	case "id":
		w.ID, err = v.id()
	case "name":
		w.Name, err = v.name()
	case "arguments":
		if v.raw.Kind() != jsontext.KindBeginObject {
			return malformed(v.what + " must be an object.")
		}
		w.Arguments = bytes.Clone(v.raw)
	}
	return err
}

func toolName(e *Event, v value) error {
	name, err := v.name()
	e.Returned.Tool, e.Returned.Sent = toolcall.Canonical(name), name
	return err
}

func toolCallID(e *Event, v value) (err error) {
	e.Returned.ToolCallID, err = v.id()
	return err
}

func failed(e *Event, v value) (err error) {
	e.Returned.Error, err = v.flag()
	return err
}

func duration(e *Event, v value) (err error) {
	e.Returned.DurationMs, err = v.count(64)
	return err
}

func size(e *Event, v value) (err error) {
	e.Returned.Size, err = v.count(64)
	return err
}

// resultHash counts where the result itself is not there.
func resultHash(e *Event, v value) error {
	h, err := v.hash()
	if e.Returned.Hash == "" {
		e.Returned.Hash = h
	}
	return err
}

func origin(e *Event, v value) (err error) {
	e.Returned.Origin, err = v.text(MaxOrigin)
	return err
}

func marked(e *Event, v value) (err error) {
	e.Returned.Marked, err = v.flag()
	return err
}

func holdsSecret(e *Event, v value) (err error) {
	e.Returned.Secret, err = v.flag()
	return err
}

func changed(e *Event, v value) (err error) {
	e.Returned.Changed, err = v.flag()
	return err
}

func fingerprints(e *Event, v value) (err error) {
	e.Returned.Seen.Fingerprints, err = v.fingerprints()
	return err
}

func truncated(e *Event, v value) (err error) {
	e.Returned.Seen.Truncated, err = v.flag()
	return err
}

func result(e *Event, v value) error {
	e.Returned.Hash, e.Returned.Text = v.hashed()
	return nil
}

func (v value) fingerprints() (prints []lineage.Fingerprint, err error) {
	err = v.each(MaxFingerprints, func(entry value) error {
		s, err := entry.plain()
		if f := lineage.Fingerprint(s); err == nil && f.Valid() {
			prints = append(prints, f)
			return nil
		}
		return malformed(entry.what + " must be a kind and 16 hex digits.")
	})
	return prints, err
}

var sourceFields = []field{
	{name: "kind", needed: true}, {name: "trust"}, {name: "tool"}, {name: "messageIndex"}, {name: "senderId"}, {name: "senderIsOwner"},
	{name: "size"}, {name: "contentHash"}, {name: "fingerprints"}, {name: "truncated"},
}

func sources(e *Event, v value) error {
	e.Sources = []Source{}
	return v.each(MaxSources, func(entry value) error {
		var s Source
		_, err := members(entry.what, entry.raw, sourceFields, s.read)
		if err == nil && s.Kind == "" {
			return malformed(entry.what + " must have a kind.")
		}
		e.Sources = append(e.Sources, s)
		return err
	})
}

func (s *Source) read(f field, v value) (err error) {
	switch f.name {
	case "kind":
		return s.readKind(v)
	case "trust":
		return s.readTrust(v)
	case "tool":
		s.Sent, err = v.name()
		s.Tool = toolcall.Canonical(s.Sent)
	case "messageIndex":
		var n int64
		n, err = v.count(64)
		s.Index = &n
	case "senderId":
		s.SenderID, err = v.id()
	case "senderIsOwner":
		s.SenderIsOwner, err = v.flag()
	case "size":
		s.Size, err = v.count(64)
	case "contentHash":
		s.Hash, err = v.hash()
	case "fingerprints":
		s.Seen.Fingerprints, err = v.fingerprints()
	case "truncated":
		s.Seen.Truncated, err = v.flag()
	}
	return err
}

func (s *Source) readKind(v value) error {
	text, err := v.plain()
	switch k := Kind(text); k {
	case SystemPrompt, UserMessage, ToolResult, CompactedHistory:
		s.Kind = k
		return err
	}
	return malformed(v.what + " must be system_prompt, user_message, tool_result or compacted_history.")
}

func (s *Source) readTrust(v value) error {
	text, err := v.plain()
	if err != nil {
		return err
	}
	level, err := taint.ParseLevel(text)
	if err != nil {
		return malformed(v.what + " must be one of the six levels.")
	}
	s.Trust = &level
	return nil
}
