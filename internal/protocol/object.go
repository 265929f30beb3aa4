package protocol

import (
	"encoding"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is an object on the wire, which must not be null. Members that a newer caller may send are passed over, but
// not one whose name differs from a known one only in case: a reader that folds case would take it for the real one.
type object[T any] struct {
	Is   T                  `json:",embed"`
	Rest map[string]skipped `json:",embed"`
}

// plain is an object without its methods.
type plain[T any] object[T]

func (o *object[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return &wrong{must: "must be an object"}
	}
	if err := json.UnmarshalDecode(dec, (*plain[T])(o)); err != nil {
		return err
	}
	for name := range o.Rest {
		for _, r := range shapeOf(reflect.TypeFor[T]()) {
			if strings.EqualFold(r.name, name) {
				return &wrong{must: "has a member whose name differs from a known one only in case"}
			}
		}
	}
	return o.check()
}

// check holds the members against their rules.
func (o *object[T]) check() error {
	v := reflect.ValueOf(&o.Is).Elem()
	for _, r := range shapeOf(v.Type()) {
		if must := r.broken(v.FieldByIndex(r.index)); must != "" {
			return &wrong{r.name, must}
		}
	}
	return nil
}

// skipped is a value that is passed over.
type skipped struct{}

func (*skipped) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return dec.SkipValue() }

// maxEntries is how many entries a list may have that says nothing else.
const maxEntries = 4096

// list is a list of objects. It is bounded while it is read: an empty one takes three bytes in a body and many more
// here.
type list[T any] []T

func (l *list[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindNull:
		return dec.SkipValue()
	case jsontext.KindBeginArray:
	default:
		return &wrong{must: "must be an array"}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for *l = (list[T]{}); dec.PeekKind() != jsontext.KindEndArray; {
		if len(*l) == maxEntries {
			return &wrong{must: "must have at most 4096 entries"}
		}
		one, err := entry[T](dec)
		if err != nil {
			return err
		}
		*l = append(*l, one)
	}
	_, err := dec.ReadToken()
	return err
}

// entry reads one of a list, and keeps it as it was sent where its type wants that.
func entry[T any](dec *jsontext.Decoder) (one T, err error) {
	var o object[T]
	keeper, keeps := any(&o.Is).(interface{ keep(sent jsontext.Value) })
	if !keeps {
		err = json.UnmarshalDecode(dec, &o)
		return o.Is, err
	}
	sent, err := dec.ReadValue()
	if err == nil {
		keeper.keep(sent.Clone())
		err = json.Unmarshal(sent, &o)
	}
	return o.Is, err
}

// rule is what the tags of a struct's field say of a member on the wire. A string is at most 512 bytes without control
// characters, since it may become a part of keys, prompts and log lines; a tag "max" says another bound, 0 none, and
// that of a list its entries. A number is whole and not negative. What is tagged "need" must be there.
type rule struct {
	name   string
	index  []int // of the field
	most   int
	needed bool
}

var shapes sync.Map // from [reflect.Type] to []*[rule]

// shapeOf is the rules of an object that is read into such a struct.
func shapeOf(t reflect.Type) []*rule {
	if known, ok := shapes.Load(t); ok {
		return known.([]*rule) //nolint:errcheck // nothing else is kept there
	}
	var s []*rule
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		r := &rule{name: name, index: f.Index, needed: f.Tag.Get("need") != ""}
		if most, err := strconv.Atoi(f.Tag.Get("max")); err == nil {
			r.most = most
		} else if f.Type.Kind() == reflect.String {
			r.most = MaxText
		}
		s = append(s, r)
	}
	shapes.Store(t, s)
	return s
}

// broken says how a value breaks the rule; "": it doesn't.
func (r *rule) broken(v reflect.Value) (must string) {
	if r.needed && v.IsZero() {
		return "is missing"
	}
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		if r.most > 0 && !isText(v.String(), r.most) {
			return "must be at most " + strconv.Itoa(r.most) + " bytes without control characters"
		}
	case reflect.Slice:
		if r.most > 0 && v.Len() > r.most {
			return "must have at most " + strconv.Itoa(r.most) + " entries"
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if n := v.Int(); n < 0 || n > math.MaxInt32 && v.Kind() == reflect.Int {
			return wholeNumber + " that is not negative"
		}
	default:
	}
	return ""
}

// isText reports whether s is short enough and has no control characters. In UTF-8 no part of a longer character looks
// like one.
func isText(s string, most int) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return len(s) <= most
}

// wrong is what is wrong with a value, or with a member of it.
type wrong struct {
	member string
	must   string // such as "must be an object"
}

func (w *wrong) Error() string { return w.must }

// explain says what is wrong with a body that could not be read. It names members that the protocol knows, and nothing
// else of the body.
func explain(err error) error {
	if m, ok := errors.AsType[*Malformed](err); ok {
		return m
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return malformed("The body has the same member twice in one object.")
	}
	at, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return malformed("The body is not one valid JSON value.")
	case errors.Is(at.Err, json.ErrUnknownName):
		return malformed(nameOf(at.JSONPointer.Parent()) + " has a member that is not part of the protocol.")
	case at.JSONPointer == "":
		return malformed("The body must be an object.")
	}
	name, must := nameOf(at.JSONPointer), "has a value of the wrong kind"
	if w, ok := errors.AsType[*wrong](err); ok {
		must = w.must
		if w.member != "" {
			name += "." + w.member
		}
	} else if t := at.GoType; t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		must = "must be a string that the protocol allows"
	} else if t != nil && kinds[t.Kind()] != "" {
		must = kinds[t.Kind()]
	}
	return malformed(name + " " + must + ".")
}

func nameOf(at jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(at), "/"), "/", ".")
}

const wholeNumber = "must be a whole number"

// kinds says what a value must be that is read into such a type.
var kinds = map[reflect.Kind]string{
	reflect.String: "must be a string", reflect.Bool: "must be true or false", reflect.Struct: "must be an object",
	reflect.Int: wholeNumber, reflect.Int32: wholeNumber, reflect.Int64: wholeNumber,
}
