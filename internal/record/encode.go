package record

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// encode makes an entry the text of a line. Params stay as they came, without their white space. Where something is
// not UTF-8 it becomes U+FFFD: a record with a mangled name is worth more than no record of the call.
func (e *Entry) encode(now time.Time, hide func(string) string) ([]byte, error) {
	if e.At.IsZero() {
		e.At = now
	}
	e.At = e.At.UTC()
	c := encoder{out: make([]byte, 0, 1<<10+len(e.Params)+len(e.Graph)), hide: hide}
	c.object(reflect.ValueOf(e).Elem())
	if c.err == nil && headLen+len(c.out)+tailLen >= MaxLine {
		c.err = ErrTooLong
	}
	if c.err != nil {
		return nil, fmt.Errorf("record: encode: %w", c.err)
	}
	return c.out, nil
}

// encoder writes an entry as JSON. The general encoder takes five times as long for a struct of so many members, of
// which so few are there.
type encoder struct {
	out  []byte
	hide func(text string) string // the secrets in a text; nil: it stays
	err  error
}

// member is one of a struct's, as it is written.
type member struct {
	name string // as in JSON, with its colon
	hide bool
}

// members are those of the structs of an entry.
var members = func() map[reflect.Type][]member {
	all := map[reflect.Type][]member{}
	for _, v := range []any{Entry{}, Person{}, Part{}, Source{}, Begin{}, Head{}} {
		t := reflect.TypeOf(v)
		for i := range t.NumField() {
			tag := t.Field(i).Tag
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			all[t] = append(all[t], member{strconv.Quote(name) + ":", tag.Get("hide") != ""})
		}
	}
	return all
}()

// object writes the members of a struct that are not zero.
func (c *encoder) object(v reflect.Value) {
	mark := byte('{')
	for i, m := range members[v.Type()] {
		if f := v.Field(i); !f.IsZero() && (f.Kind() != reflect.Slice || f.Len() > 0) {
			c.out = append(append(c.out, mark), m.name...)
			c.value(f, m.hide)
			mark = ','
		}
	}
	if mark == '{' {
		c.out = append(c.out, mark)
	}
	c.out = append(c.out, '}')
}

func (c *encoder) value(v reflect.Value, hide bool) {
	switch v.Kind() { //nolint:exhaustive // a test tries all that there are
	case reflect.String:
		s := v.String()
		if hide && c.hide != nil {
			s = c.hide(s)
		}
		c.out, _ = jsontext.AppendQuote(c.out, s) // the error says that it was not UTF-8
	case reflect.Bool:
		c.out = strconv.AppendBool(c.out, v.Bool())
	case reflect.Int, reflect.Int64:
		c.out = strconv.AppendInt(c.out, v.Int(), 10)
	case reflect.Uint64:
		c.out = strconv.AppendUint(c.out, v.Uint(), 10)
	case reflect.Pointer:
		c.value(v.Elem(), hide)
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			c.out = append(at.AppendFormat(append(c.out, '"'), time.RFC3339Nano), '"')
		} else {
			c.object(v)
		}
	case reflect.Slice: // none is empty
		if raw, ok := v.Addr().Interface().(*jsontext.Value); ok {
			c.raw(*raw)
			return
		}
		for i := range v.Len() {
			c.out = append(c.out, "[,"[min(i, 1)])
			c.value(v.Index(i), hide)
		}
		c.out = append(c.out, ']')
	}
}

// raw writes what is JSON already. Readers refuse a name that is there twice.
func (c *encoder) raw(v jsontext.Value) {
	var out []byte
	var err error
	for _, mend := range []bool{false, true} {
		if out, err = jsontext.AppendFormat(c.out, v, jsontext.AllowDuplicateNames(false),
			jsontext.AllowInvalidUTF8(mend), jsontext.PreserveRawStrings(!mend)); err == nil {
			c.out = out
			return
		}
	}
	c.err = err
}
