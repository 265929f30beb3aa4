package protocol

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Malformed is the error of a body that is not a call. Reason is a sentence that can be shown to the caller: it names
// members of the protocol and never repeats anything from the body.
type Malformed struct {
	Reason string
}

func (m *Malformed) Error() string { return m.Reason }

func malformed(reason string) error { return &Malformed{Reason: reason} }

// message is what every body has.
type message struct {
	_         struct{}       `others:"refused"`
	Version   jsontext.Value `json:"version" need:"always"`
	Timestamp timestamp      `json:"timestamp" need:"always"`
	RequestID string         `json:"requestId" need:"always"`
	Context   Context        `json:"context"`
}

func (m *message) check() error {
	invisible := func(r rune) bool { return r <= ' ' || r >= 0x7f }
	switch {
	case string(m.Version) != "1":
		return &wrong{"version", "must be the number 1"}
	case len(m.RequestID) > MaxRequestID || strings.ContainsFunc(m.RequestID, invisible):
		return &wrong{"requestId", "must be 1 to 128 visible ASCII characters without spaces"}
	}
	return nil
}

// timestamp is read more strictly than [time.Parse] does, which takes an hour of one digit, a comma before the
// fraction, and an offset beyond a day.
type timestamp struct{ time.Time }

func (t *timestamp) UnmarshalText(text []byte) (err error) {
	const form = "2006-01-02T15:04:05Z"
	if t.Time, err = time.Parse(time.RFC3339, string(text)); err == nil && len(text) >= len(form) && !t.IsZero() &&
		text[13] == ':' && text[19] != ',' {
		offset := text[len(text)-5:]
		if text[len(text)-1] == 'Z' || string(offset[:2]) <= "23" && string(offset[3:]) <= "59" {
			return nil
		}
	}
	return must("be an RFC 3339 time")
}

type tool struct {
	_      struct{} `others:"refused"`
	Name   string   `json:"name" need:"always" max:"0"`
	Params params   `json:"params" need:"always"`
	Hints  *Hints   `json:"annotations"`
}

func (t *tool) check() error {
	switch {
	case len(t.Name) > MaxToolName:
		return &wrong{"name", "must be at most 128 bytes"}
	case Canonical(t.Name) == "":
		return &wrong{"name", "must not be empty"}
	}
	return nil
}

// params are read into their values at once.
type params walked

func (p *params) read(r *reader) (err error) {
	r.peek()
	start := r.at
	if p.all, err = r.values(start); err != nil {
		return err
	}
	if p.all[0].Kind != jsontext.KindBeginObject {
		return must("be an object")
	}
	p.of = jsontext.Value(r.text[start:r.at]).Clone()
	return nil
}

// Decode reads one call. Every error it returns is a [*Malformed]. Client is left empty: the body has no say in who
// signed it.
func Decode(text []byte) (Call, error) {
	c, notice, err := DecodeNotice(text)
	if notice {
		return Call{}, malformed("A notice is no call.")
	}
	return c, err
}

// DecodeNotice reads a call that may say, beside tool, that it is only a notice of a call that will not be asked about.
func DecodeNotice(text []byte) (c Call, notice bool, err error) {
	var b struct {
		message
		Tool   tool `json:"tool" need:"always"`
		Notice bool `json:"notice"`
	}
	if c, err = decode(text, MaxBody, "", &b, &b.message); err != nil {
		return Call{}, false, err
	}
	t := &b.Tool
	c.Tool, c.Sent, c.Params, c.walked = Canonical(t.Name), t.Name, t.Params.of, walked(t.Params)
	if t.Hints != nil {
		c.Hints = *t.Hints
	}
	return c, b.Notice, nil
}

// DecodeText reads a body of at most so many bytes that has a text in place of a tool. Its call has no tool.
func DecodeText(text []byte, most int) (Call, string, error) {
	var b struct {
		message
		Text string `json:"text" need:"always" max:"0"`
	}
	c, err := decode(text, most, "", &b, &b.message)
	return c, b.Text, err
}

// DecodeQuestions reads a body of at most so many bytes that has a list of questions in place of a tool.
func DecodeQuestions(text []byte, most int) (Call, []string, error) {
	var b struct {
		message
		Questions []string `json:"questions" need:"always" max:"32"`
	}
	c, err := decode(text, most, "", &b, &b.message)
	return c, b.Questions, err
}

// decode reads a body, and makes a call without a tool of what every body has.
func decode(text []byte, most int, event Name, into any, m *message) (Call, error) {
	if len(text) > most {
		return Call{}, malformed("The body must be at most " + strconv.Itoa(most>>20) + " MiB.")
	}
	r, err := newReader(text)
	if err != nil {
		return Call{}, err
	}
	r.event = event
	err = r.object(into)
	if w, ok := errors.AsType[*wrong](err); ok {
		err = malformed(w.Error())
	}
	if err != nil {
		return Call{}, err
	}
	return Call{RequestID: m.RequestID, Timestamp: m.Timestamp.Time, Context: m.Context}, nil
}
