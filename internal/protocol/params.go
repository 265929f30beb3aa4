package protocol

import (
	"github.com/go-json-experiment/json/jsontext"
)

// walked are the values of params that were read already.
type walked struct {
	of  jsontext.Value
	all Values
}

// Values are those of the params. A call that came from Decode has them already;
// those of another are read anew. There are none where the params are not valid JSON.
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

// Strings yields every name and every string of the params in the order of the
// text, with the path at which it is. A name is yielded before its value.
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

// Param returns the string member of params with that name. It looks at the top
// level only; false means that it is absent or not a string.
func (c *Call) Param(name string) (string, bool) {
	all, _ := c.Values()
	for i := 1; i < len(all); i = all[i].Next {
		if v := &all[i]; v.NameAt > 0 && v.Name == name {
			return v.Text, v.Kind == jsontext.KindString
		}
	}
	return "", false
}
