package record

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// TestEveryMemberIsWrittenAndRead tries each member of an entry that a caller may set.
func TestEveryMemberIsWrittenAndRead(t *testing.T) {
	samples := map[string]any{
		"Kind": KindNote, "At": time.Unix(1, 5).UTC(), "Params": jsontext.Value(`{"a":["\u0041\/é",1.50e3]}`), "Why": []string{"a", "b"}, "Origins": []string{"c"}, "Replay": true, "Graph": jsontext.Value(`{"nodes":[]}`),
		"People": []Person{{Name: "ann", Via: "v", At: time.Unix(2, 0).UTC(), TookMs: 3, Says: "s", Passkey: "k"}, {}}, "Decision": Allow,
	}
	e := Entry{}
	for i := range reflect.TypeFor[Entry]().NumField() {
		name, field := reflect.TypeFor[Entry]().Field(i).Name, reflect.ValueOf(&e).Elem().Field(i)
		switch sample, ok := samples[name]; {
		case ok:
			field.Set(reflect.ValueOf(sample))
		case field.Kind() == reflect.Pointer: // the log's own
		case field.CanInt():
			field.SetInt(-7)
		default:
			field.SetString("a\"\\\x00<é\u2028")
		}
	}
	l, _, path := faultyLog(t, testOptions())
	if err := l.Append(e); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	verifies(t, path, nil)
	for line := range Read(bytes.NewReader(contents(t, path))) {
		if line.Kind == KindNote && !reflect.DeepEqual(line.Entry, e) {
			t.Errorf("read %+v\nwant %+v", line.Entry, e)
		}
	}
}

// TestWhatIsNotUTF8CanBeRead: raw values that no reader would take are no reason to lose the record.
func TestWhatIsNotUTF8CanBeRead(t *testing.T) {
	for _, raw := range []string{`"\ud800"`, `{"a":"x\udfff"}`, "\"\xff\"", "{\"\xff\":1}"} {
		for _, e := range []Entry{{Kind: KindNote, Params: jsontext.Value(raw)}, {Kind: KindGraph, Graph: jsontext.Value(raw)}} {
			l, _, path := faultyLog(t, testOptions())
			if err := l.Append(e); err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
			verifies(t, path, nil)
			if text := contents(t, path); !bytes.Contains(text, []byte("\ufffd")) {
				t.Errorf("%q: %s", raw, text)
			}
		}
	}
}
