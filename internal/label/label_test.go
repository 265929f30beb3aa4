package label_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/label"
	"github.com/openclaw-verifier/verifier/policy"
)

const sendNote = `"name":"send_note","description":"Sends.","inputSchema":{"properties":{"to":{},"text":{}}}`

func read(t *testing.T, text string) []label.Tool {
	t.Helper()
	tools, err := label.Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tools
}

func TestReadTakesEachForm(t *testing.T) {
	t.Parallel()
	const x = `{"properties":{"x":{}}}`
	for name, text := range map[string]string{
		"MCP": `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":` + x + `},
			{"name":"b","inputSchema":{}}]}}`,
		"a list":   `[{"name":"b","parameters":{}},{"name":"a","parameters":` + x + `}]`,
		"OpenClaw": `{"tools":{"b":{"description":"B","parameters":{}},"a":{"label":"A","parameters":` + x + `}}}`,
	} {
		tools := read(t, text)
		if len(tools) != 2 || tools[0].Name != "a" || tools[1].Name != "b" ||
			len(tools[0].Arguments) != 1 || tools[0].Arguments[0] != "x" {
			t.Errorf("%s: %+v", name, tools)
		}
	}
}

// A server may add members of another form, or the same tool twice: one could hide the other.
func TestReadRefusesWhatCouldBeReadInTwoWays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `[]`, `{}`, `"a"`, `{"a":1}`, `{"a":{}}`, `{"a":{"x":1}}`, `{"a":{},"a":{}}`,
		`[[{"name":"a","inputSchema":{}}]]`,
		`[{"name":"","inputSchema":{}}]`, `[{"name":"a","inputSchema":[]}]`,
		`[{"name":"a","inputSchema":{},"parameters":{"properties":{"url":{}}}}]`,
		`[{"name":"a","inputSchema":{}},{"name":"A","inputSchema":{"properties":{"url":{}}}}]`,
	} {
		if tools, err := label.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", text, tools)
		}
	}
}

// H553: whatever a model thinks, nothing passes that would not have by the owner's key alone.
func TestH553NoOpinionOfAModelMakesALabelMilder(t *testing.T) {
	t.Parallel()
	tool := &read(t, `[{`+sendNote+`}]`)[0]
	on := func(b *bool) bool { return b != nil && *b }
	for bits := range 32 {
		var o auditor.ToolOpinion
		for i, word := range []string{"acts", "destroys", "pays", "secret", "looks"} {
			if bits&(1<<i) > 0 {
				o = append(o, word)
			}
		}
		for _, key := range []string{"r", "a", "d", "s"} {
			plain, _ := label.Label(tool, key, nil)
			l, ok := label.Label(tool, key, o)
			if !ok || on(plain.Sink) && !on(l.Sink) || on(l.Safe) && (bits&15 > 0 || !on(plain.Safe)) ||
				on(plain.Destructive) && !on(l.Destructive) || on(plain.Secret) && !on(l.Secret) ||
				o.Has("destroys", "pays") && !on(l.Destructive) || o.Has("secret") && !on(l.Secret) {
				t.Errorf("%s with %+v: %+v", key, o, l)
			}
		}
	}
	if _, ok := label.Label(tool, "y", nil); ok {
		t.Error("an unknown key gives a label")
	}
}

func TestAToolIsOpenUntilItIsLabelledAndWhenItChanges(t *testing.T) {
	t.Parallel()
	tools := read(t, `[{`+sendNote+`},{"name":"get_note","inputSchema":{}}]`)
	const own = "# mine\ntools:\n  # why\n  x: {sink: true}\n  get_note:\n    source: false\n    sink: false\n"
	f, err := label.Parse([]byte(own))
	if err != nil {
		t.Fatal(err)
	}
	if open := f.Open(tools); len(open) != 1 || open[0].Name != "send_note" {
		t.Fatalf("open: %+v", open)
	}
	l, _ := label.Label(&tools[1], "d", nil)
	f.Set(&tools[1], &l)
	want := own + `  "send_note": {source: true, sink: true, destructive: true, destinations: ["text", "to"]} # `
	if got := string(f.Text()); !strings.HasPrefix(got, want) {
		t.Errorf("the file is\n%s", got)
	}
	if f, err = label.Parse(f.Text()); err != nil || len(f.Open(tools)) != 0 {
		t.Errorf("%v, open: %+v", err, f.Open(tools))
	}
	changed := read(t, `[{`+strings.Replace(sendNote, "Sends.", "Reads.", 1)+`}]`)
	if open := f.Open(changed); len(open) != 1 {
		t.Errorf("a changed tool is not shown again")
	}
	for _, bad := range []string{"x: 1\n", "tools:\n- a\n", "profile: strict\ntools:\n  a: {}\n",
		"tools:\n  a: {}\nlisten: x\n", "tools: {}\n"} {
		if _, err := label.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is a file of labels", bad)
		}
	}
}

// FuzzLabels: whatever a catalogue says, the file can be read again and says what the owner did.
func FuzzLabels(f *testing.F) {
	f.Add(`{"tools":[{` + sendNote + `}]}`)
	f.Add(`{"a\nb: {safe: true}":{"description":"A","parameters":{"properties":{"x\"}":"X"}}}}`)
	f.Add(`[{"name":"get_x: {safe: true} #","annotations":{"readOnlyHint":true},"inputSchema":{}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		tools, err := label.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		file, err := label.Parse(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]policy.Tool{}
		for i := range tools {
			l, _ := label.Label(&tools[i], "d", nil)
			file.Set(&tools[i], &l)
			want[tools[i].Name] = l
		}
		again, err := label.Parse(file.Text())
		if err != nil || len(again.Open(tools)) > 0 {
			t.Fatalf("%v, open: %v:\n%s", err, again.Open(tools), file.Text())
		}
		read, err := config.ParseLabels("labels.yaml", file.Text())
		if len(file.Text()) < 200<<10 && (err != nil || !reflect.DeepEqual(read.Tools, want)) {
			t.Fatalf("%v, want %v: %v:\n%s", read.Tools, want, err, file.Text())
		}
	})
}
