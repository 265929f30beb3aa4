package mcp

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is one message of JSON-RPC, as it came: what is passed on are the bytes that were read here.
type message struct {
	text   []byte         // all of it, in one line
	id     jsontext.Value // nil: it has none
	key    string         // the id in the one form by which ids are compared
	method string         // "": it is an answer
	params jsontext.Value
	result jsontext.Value
	failed jsontext.Value
}

func (m *message) isRequest() bool { return m.method != "" && m.id != nil }

func (m *message) isAnswer() bool { return m.method == "" }

// Why a line is not taken for a message.
var (
	errBatch   = errors.New("batches of messages are refused: send each by itself")
	errJSON    = errors.New("this is not one JSON object in one line in UTF-8 with each name once")
	errMessage = errors.New("this is no message of JSON-RPC 2.0: a request, a notification or an answer")
	errNames   = errors.New("a name is there that another program could take for a name of the protocol's")
)

// envelope are the names that a message may have a meaning for.
var envelope = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// decode reads one line, without its end. Where two programs could read the same line differently, it is refused: names
// that are there twice, at any depth, or in another spelling; ends of lines inside of it; more than one value. Broken UTF-8
// is taken only from servers, since a tool may return it.
func decode(text []byte, fromServer bool) (m message, err error) {
	m.text = text
	text = bytes.TrimSuffix(text, []byte("\r"))
	switch trimmed := bytes.TrimLeft(text, " \t"); {
	case bytes.ContainsAny(text, "\r\n"): // some programs would read more than one message
		return m, errJSON
	case len(trimmed) > 0 && trimmed[0] == '[':
		return m, errBatch
	}
	all, err := members(text, envelope, jsontext.AllowInvalidUTF8(fromServer))
	if err != nil {
		return m, err
	}
	m.id, m.params, m.result, m.failed = all["id"], all["params"], all["result"], all["error"]
	if v, ok := all["method"]; ok {
		if m.method, ok = asString(v); !ok || m.method == "" || m.result != nil || m.failed != nil {
			return m, errMessage
		}
	}
	if version, _ := asString(all["jsonrpc"]); version != "2.0" {
		return m, errMessage
	}
	var ok bool
	m.key, ok = keyOf(m.id)
	isError := m.method == "" && m.failed != nil && (m.id == nil || m.id.Kind() == jsontext.KindNull) // that of a message that could not be read
	switch {
	case m.isAnswer() && (m.result == nil) == (m.failed == nil),
		m.isAnswer() && !ok && !isError,
		!m.isAnswer() && m.id != nil && !ok:
		return m, errMessage
	}
	return m, nil
}

// members are those of an object, as slices of it. Beside the known names it takes others, but none that a less strict
// program could take for a known one.
func members(object []byte, known []string, options ...jsontext.Options) (map[string]jsontext.Value, error) {
	out := map[string]jsontext.Value{}
	end, err := walk(object, func(name string, v jsontext.Value, end int) error {
		if resembles(name, known) {
			return errNames
		}
		out[name] = object[end-len(v) : end]
		return nil
	}, options...)
	switch {
	case err != nil:
		return nil, err
	case len(bytes.Trim(object[end:], " \t")) > 0:
		return nil, errJSON
	}
	return out, nil
}

// walk hands over each member of an object and where its value ends, until there are no more or one is refused. It returns
// where the object ends. What is no JSON is errJSON.
func walk(object []byte, take func(name string, v jsontext.Value, end int) error, options ...jsontext.Options) (end int, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(object), options...)
	if t, err := dec.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return 0, errJSON
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		t, err := dec.ReadToken()
		if err != nil {
			return 0, errJSON
		}
		name := t.String()
		v, err := dec.ReadValue()
		if err != nil {
			return 0, errJSON
		}
		if err := take(name, v, int(dec.InputOffset())); err != nil {
			return 0, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return 0, errJSON
	}
	return int(dec.InputOffset()), nil
}

var separators = strings.NewReplacer("_", "", "-", "")

// resembles reports whether a name is none of the known ones, but is one in another case or with other separators.
func resembles(name string, known []string) bool {
	like := false
	for _, k := range known {
		if name == k {
			return false
		}
		like = like || strings.EqualFold(separators.Replace(name), separators.Replace(k))
	}
	return like
}

func asString(v jsontext.Value) (s string, ok bool) {
	return s, v.Kind() == jsontext.KindString && json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) == nil
}

// longestID is how long an id may be.
const longestID = 1 << 10

// keyOf is an id in the one form by which ids are compared: 1, 1.0 and 1e0 are the same one to most programs.
func keyOf(id jsontext.Value) (string, bool) {
	switch {
	case len(id) > longestID:
		return "", false
	case id.Kind() == jsontext.KindString:
		s, ok := asString(id)
		return "s" + s, ok
	case id.Kind() == jsontext.KindNumber:
		f, err := strconv.ParseFloat(string(id), 64)
		if err != nil || math.IsInf(f, 0) {
			return "", false
		}
		return "n" + strconv.FormatFloat(f, 'g', -1, 64), true
	}
	return "", false
}

// idOf is the id of a request that was refused, so that its client does not wait for an answer. It is nil where another
// program could read another one, or none.
func idOf(text []byte) (id jsontext.Value) {
	method := false
	_, err := walk(text, func(name string, v jsontext.Value, _ int) error {
		method = method || name == "method"
		switch {
		case name == "id" && id == nil:
			id = v.Clone()
		case strings.EqualFold(separators.Replace(name), "id"):
			return errNames
		}
		return nil
	}, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, ok := keyOf(id); err != nil || !ok || !method {
		return nil
	}
	return id
}

func quoted(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts can be written
	}
	return text
}
