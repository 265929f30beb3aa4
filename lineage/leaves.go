package lineage

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// leaf is one text or number in a call's params, or true, false or null.
type leaf struct {
	path, text string
	bare       bool // it is no text: "false" is another value than false
}

// longPath is how long the path of an argument may be, in bytes. Every argument
// below a name has the name in its path.
const longPath = 1024

// walked walks params. It stops at its bounds, and where they are no valid JSON:
// a call with such params was refused before.
func walked(params jsontext.Value) walker {
	w := walker{d: jsontext.NewDecoder(bytes.NewReader(params))}
	w.more = !w.value("")
	return w
}

type walker struct {
	d        *jsontext.Decoder
	found    []leaf // texts and numbers, which can come from somewhere
	literals []leaf // true, false and null, which can't
	names    []string
	more     bool // there is more than this, or no valid JSON
}

// add keeps an argument, while there are not too many.
func (w *walker) add(list *[]leaf, l leaf) bool {
	if len(w.found)+len(w.literals) == MaxArguments {
		return false
	}
	*list = append(*list, l)
	return true
}

func (w *walker) value(path string) bool {
	tok, err := w.d.ReadToken()
	if err != nil {
		return false
	}
	switch tok.Kind() {
	case '{':
		return w.object(path)
	case '[':
		return w.array(path)
	case '"', '0':
		return w.add(&w.found, leaf{path, tok.String(), tok.Kind() == '0'})
	case 't', 'f', 'n':
		return w.add(&w.literals, leaf{path, tok.String(), true})
	}
	return true
}

func (w *walker) object(path string) bool {
	if path != "" {
		path += "."
	}
	for w.d.PeekKind() == '"' {
		token, err := w.d.ReadToken()
		if err != nil {
			return false
		}
		name := token.String() // before the next token takes its place
		w.names = append(w.names, name)
		if len(path)+len(name) > longPath || !w.value(path+name) {
			return false
		}
	}
	_, err := w.d.ReadToken()
	return err == nil
}

func (w *walker) array(path string) bool {
	for i := 0; w.d.PeekKind() != ']'; i++ {
		if !w.value(path + "[" + strconv.Itoa(i) + "]") {
			return false
		}
	}
	_, err := w.d.ReadToken()
	return err == nil
}
