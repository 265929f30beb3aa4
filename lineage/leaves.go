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

// leaves walks params. It stops where they are no valid JSON: whoever decoded
// the call has refused that already.
func leaves(params jsontext.Value) []leaf {
	return walked(params).found
}

// walked gives the names of all members as well, and what says only yes or no.
func walked(params jsontext.Value) walker {
	w := walker{d: jsontext.NewDecoder(bytes.NewReader(params))}
	w.value("")
	return w
}

type walker struct {
	d        *jsontext.Decoder
	found    []leaf // texts and numbers, which can come from somewhere
	literals []leaf // true, false and null, which can't
	names    []string
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
		w.found = append(w.found, leaf{path, tok.String(), tok.Kind() == '0'})
	case 't', 'f', 'n':
		w.literals = append(w.literals, leaf{path, tok.String(), true})
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
		if !w.value(path + name) {
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
