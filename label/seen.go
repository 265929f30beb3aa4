package label

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/wholefile"
)

// Seen are the tools that agents have called, as far as calls tell: names, and the names and types of arguments. It keeps no value, is bounded, and is
// safe for concurrent use. The zero Seen is empty.
type Seen struct {
	// Plain reports whether a name holds nothing that must be hidden; nil: all are plain. One that is not is not kept.
	Plain func(name string) bool

	mu    sync.Mutex
	tools map[string]map[string]string // by name: the type of each argument
	dirty bool
}

// Bounds of what is kept: an agent chooses the names.
const (
	mostSeen      = 1000
	mostSeenArgs  = 32
	longestSeen   = 4 << 20
	longestParams = 64 << 10 // of a call whose arguments are looked at, and
	mostMembers   = 64       // how many these may be: a call waits for it
	mixedType     = "any"
	seenObject    = "object"
	seenArgument  = `^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`
	seenToolNames = `^[A-Za-z_][A-Za-z0-9_.:/-]{0,127}$`
)

var (
	isSeenTool   = regexp.MustCompile(seenToolNames).MatchString
	isPlainName  = regexp.MustCompile(seenArgument).MatchString
	manyOfDigits = regexp.MustCompile(`(?:[0-9][^0-9]*){4}`).MatchString
)

// isSeenArgument reports whether a name is one that people give to arguments: a key or a token, which may be a name in an object, has many digits.
func isSeenArgument(name string) bool { return isPlainName(name) && !manyOfDigits(name) }

// Note keeps what a call tells of its tool, whose name was sent in another spelling, perhaps. A name that is no plain one, and what is beyond the
// bounds, is left out.
func (s *Seen) Note(tool, sent string, params jsontext.Value) {
	if !isSeenTool(tool) {
		return
	}
	var members map[string]jsontext.Value
	if len(params) > 0 && len(params) <= longestParams && json.Unmarshal(params, &members) != nil {
		return
	}
	if len(members) > mostMembers {
		members = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	arguments, known := s.tools[tool]
	switch {
	case known:
	case len(s.tools) >= mostSeen || !s.isPlain(tool) || !s.isPlain(sent):
		return
	default:
		if s.tools == nil {
			s.tools = map[string]map[string]string{}
		}
		arguments = map[string]string{}
		s.tools[tool], s.dirty = arguments, true
	}
	for name, value := range members {
		was, known := arguments[name]
		kind := typeOf(value)
		switch {
		case !isSeenArgument(name) || known && (was == kind || was == mixedType) || !known && (len(arguments) >= mostSeenArgs || !s.isPlain(name)):
			continue
		case known:
			kind = mixedType
		}
		arguments[name], s.dirty = kind, true
	}
}

func (s *Seen) isPlain(name string) bool { return s.Plain == nil || s.Plain(name) }

func typeOf(v jsontext.Value) string { return cmp.Or(typeNames[v.Kind()], mixedType) }

var typeNames = map[jsontext.Kind]string{
	jsontext.KindString: "string", jsontext.KindNumber: "number", jsontext.KindTrue: "boolean", jsontext.KindFalse: "boolean",
	jsontext.KindBeginArray: "array", jsontext.KindBeginObject: seenObject,
}

// Tools are those that were seen, for which Propose is strict: of what a tool does, calls tell nothing.
func (s *Seen) Tools() (out []Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		t := Tool{Name: name, Loose: true, OnlyCalled: true}
		for _, argument := range slices.Sorted(maps.Keys(s.tools[name])) {
			kind := s.tools[name][argument]
			t.Params = append(t.Params, Param{Name: argument, Chosen: kind == "boolean", Number: kind == "number", Nested: kind == seenObject || kind == mixedType})
		}
		out = append(out, t)
	}
	return out
}

// Load adds what a file holds that Save wrote. One that is not there is empty; what breaks the bounds is left out.
func (s *Seen) Load(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(text) > longestSeen {
		err = errors.New(path + " is too long")
	}
	kept := map[string]map[string]string{}
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		s.tools = map[string]map[string]string{}
	}
	for _, tool := range slices.Sorted(maps.Keys(kept)) {
		if !isSeenTool(tool) || len(s.tools) >= mostSeen || kept[tool] == nil || len(kept[tool]) > mostSeenArgs {
			continue
		}
		maps.DeleteFunc(kept[tool], func(name, _ string) bool { return !isSeenArgument(name) })
		s.tools[tool] = kept[tool]
	}
	return nil
}

// Save writes what was seen since the last time to a file, at once and whole. It writes nothing where there is nothing new.
func (s *Seen) Save(path string) error {
	text, err := s.changed()
	if text == nil || err != nil {
		return err
	}
	if err = wholefile.Put(path, text); err != nil {
		s.mu.Lock()
		s.dirty = true // it is tried again
		s.mu.Unlock()
	}
	return err
}

// changed is what is to be written; nil: nothing. The file is written without the lock, for which calls wait.
func (s *Seen) changed() (text []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty {
		return nil, nil
	}
	if text, err = json.Marshal(s.tools, json.Deterministic(true)); err == nil {
		s.dirty = false
	}
	return text, err
}
