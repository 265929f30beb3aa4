package protocol

import "github.com/go-json-experiment/json/jsontext"

// walked are the values of params that were read already.
type walked struct {
	of  jsontext.Value
	all Values
}

// Values are those of the params. A call that came from Decode has them already; those of another are read anew. There
// are none where the params are not valid JSON.
func (c *Call) Values() (Values, error) {
	if n := len(c.Params); n > 0 && n == len(c.walked.of) && &c.Params[0] == &c.walked.of[0] {
		return c.walked.all, nil
	}
	if len(c.Params) > 0 && !c.Params.IsValid() {
		return nil, malformed("The params are not one valid JSON value.")
	}
	return Walk(c.Params)
}

// read keeps the values of params that were found valid.
func (c *Call) read(params jsontext.Value) error {
	all, err := Walk(params)
	if err != nil {
		return malformed("tool.params must hold at most 65536 values.")
	}
	c.Params, c.walked = params, walked{params, all}
	return nil
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
	if err := checkLimits(text, MaxEdited); err != nil {
		return nil, err
	}
	params := jsontext.Value(text).Clone()
	if params.Compact() != nil || !params.IsValid() {
		return nil, malformed("The arguments are not one valid JSON value with each name once.")
	}
	if params.Kind() != jsontext.KindBeginObject {
		return nil, malformed("The arguments must be a JSON object.")
	}
	return params, nil
}

// With is the call with other params. It is another call: it has another digest, and is judged anew.
func (c *Call) With(params jsontext.Value) *Call {
	other := *c
	if other.read(params) != nil {
		other.Params = params
	}
	return &other
}
