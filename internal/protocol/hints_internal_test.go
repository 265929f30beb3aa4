package protocol

import "testing"

func TestAnnotationsAreRead(t *testing.T) {
	body := func(annotations string) []byte {
		return []byte(`{"version":1,"timestamp":"2026-10-03T14:02:11Z","requestId":"r","tool":{"name":"a","params":{},"annotations":` + annotations + `}}`)
	}
	c, err := Decode(body(`{"title":"A","readOnlyHint":false,"destructiveHint":true,"openWorldHint":null}`))
	if err != nil || !c.Hints.Acts() || !c.Hints.Destroys() || c.Hints.Outside() {
		t.Errorf("%+v, %v", c.Hints, err)
	}
	if c, err := Decode(body(`null`)); err != nil || c.Hints.Acts() {
		t.Errorf("%+v, %v", c.Hints, err)
	}
	for _, wrong := range []string{`[]`, `"x"`, `{"readOnlyHint":"no"}`, `{"readOnlyHint":true,"readOnlyHint":false}`} {
		if _, err := Decode(body(wrong)); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
