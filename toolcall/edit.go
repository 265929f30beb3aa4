package toolcall

import "github.com/go-json-experiment/json/jsontext"

// MaxEdited is how many bytes the params may have that a person puts in the place of a call's own.
const MaxEdited = 32 << 10

// ReadParams reads params that a person wrote, as strictly as those of a body, and returns them without white space. Every error is a [*Malformed].
func ReadParams(text []byte) (jsontext.Value, error) {
	if len(text) > MaxEdited {
		return nil, malformed("The arguments must be at most 32 KiB.")
	}
	if err := checkLimits(text, MaxEdited); err != nil {
		return nil, err
	}
	params := jsontext.Value(text).Clone()
	switch {
	case !params.IsValid():
		return nil, malformed("The arguments are not one valid JSON value with each name once.")
	case params.Kind() != jsontext.KindBeginObject:
		return nil, malformed("The arguments must be a JSON object.")
	case params.Compact() != nil:
		return nil, malformed("The arguments can't be read.")
	}
	return params, nil
}

// With is the call with other params. It is another call: it has another digest, and is judged anew.
func (c *Call) With(params jsontext.Value) *Call {
	other := *c
	other.Params = params
	return &other
}
