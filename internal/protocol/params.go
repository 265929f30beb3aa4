package protocol

import "github.com/go-json-experiment/json/jsontext"

// walked are the values of params that were read already.
type walked struct {
	of  jsontext.Value
	all Values
}

// Values are those of the params. A call that came from Decode has them already; those of another are read anew.
func (c *Call) Values() (Values, error) {
	if n := len(c.Params); n > 0 && n == len(c.walked.of) && &c.Params[0] == &c.walked.of[0] {
		return c.walked.all, nil
	}
	return Walk(c.Params)
}

// Strings yields every name and every string of the params in the order of the text, with the path at which it is. A
// name is yielded before its value.
func (c *Call) Strings(yield func(path, value string) bool) {
	all, _ := c.Values()
	for i := range all {
		v := &all[i]
		text := v.Kind == jsontext.KindString
		if v.NameAt == 0 && !text {
			continue
		}
		path := all.Path(i)
		if v.NameAt > 0 && !yield(path, v.Name) || text && !yield(path, v.Text) {
			return
		}
	}
}

// MaxEdited is how many bytes the params may have that a person puts in the place of a call's own.
const MaxEdited = 32 << 10

// ReadParams reads params that a person wrote, as strictly as those of a body, and returns them without white space.
// Every error is a [*Malformed].
func ReadParams(text []byte) (jsontext.Value, error) {
	if len(text) > MaxEdited {
		return nil, malformed("The arguments must be at most 32 KiB.")
	}
	params := jsontext.Value(text).Clone()
	if !params.IsValid() || params.Compact() != nil {
		return nil, malformed("The arguments are not one valid JSON value with each name once.")
	}
	if _, err := Walk(params); err != nil {
		return nil, err
	}
	if params.Kind() != jsontext.KindBeginObject {
		return nil, malformed("The arguments must be a JSON object.")
	}
	return params, nil
}

// With is the call with other params. It is another call: it has another digest, and is judged anew.
func (c *Call) With(params jsontext.Value) *Call {
	other := *c
	other.Params = params
	return &other
}
