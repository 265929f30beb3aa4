package lineage

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// leaf is one text or number in a call's params.
type leaf struct{ path, text string }

// leaves walks params. It stops where they are no valid JSON: whoever decoded
// the call has refused that already.
func leaves(params jsontext.Value) []leaf {
	found, _ := walked(params)
	return found
}

// walked gives the names of all members as well.
func walked(params jsontext.Value) (found []leaf, names []string) {
	w := walker{d: jsontext.NewDecoder(bytes.NewReader(params))}
	w.value("")
	return w.found, w.names
}

type walker struct {
	d     *jsontext.Decoder
	found []leaf
	names []string
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
		w.found = append(w.found, leaf{path, tok.String()})
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
