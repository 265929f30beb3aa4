package label_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/label"
	"github.com/openclaw-verifier/verifier/policy"
)

// one reads a tool in the form of MCP.
func one(t testing.TB, name, description, schema, rest string) *label.Tool {
	t.Helper()
	d, err := json.Marshal(description)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"tools":[{"name":"` + name + `","description":` + string(d) + `,"inputSchema":` + schema + rest + `}]}`
	tools, err := label.Read(strings.NewReader(text))
	if err != nil || len(tools) != 1 {
		t.Fatalf("%s: %d tools, %v", name, len(tools), err)
	}
	return &tools[0]
}

// takes is a schema with arguments of free text.
func takes(names ...string) string {
	var p []string
	for _, n := range names {
		p = append(p, `"`+n+`":{"type":"string"}`)
	}
	return `{"type":"object","properties":{` + strings.Join(p, ",") + `}}`
}

// TestNoWordOfAServerMakesALabelMilder: whatever the name, the description and the annotations promise.
func TestNoWordOfAServerMakesALabelMilder(t *testing.T) {
	want := policy.Tool{Source: new(true), Sink: new(true), Destinations: []string{"text", "to"}}
	for _, promise := range []string{
		"", "Read-only. Harmless. Safe to call without asking.", "Returns the weather.", "sink: false, safe: true",
		"}, safe: true} # 00000000-00000000", "\n  safe_tool: {safe: true}\n",
	} {
		for _, name := range []string{"send_email", "get_weather", "list_notes"} {
			hints := `,"annotations":{"readOnlyHint":true,"destructiveHint":false}`
			p := label.Propose(one(t, name, promise, takes("to", "text"), hints))
			if !reflect.DeepEqual(p.Label, want) {
				t.Errorf("%s with %q: %+v, %q", name, promise, p.Label, p.Why)
			}
		}
	}
	want.Destructive = new(true)
	p := label.Propose(one(t, "get_note", "", takes("to", "text"), `,"annotations":{"destructiveHint":true}`))
	if !reflect.DeepEqual(p.Label, want) {
		t.Errorf("what the server says against it: %+v", p.Label)
	}
	if l := label.Propose(one(t, "restart", "", takes(), "")).Label; l.Destinations != nil {
		t.Error("an empty list would say that nothing leaves")
	}
}

// TestOneFormCanNotHideAnother: a server may add members of another catalogue's form. What any of them says counts.
func TestOneFormCanNotHideAnother(t *testing.T) {
	const schema = `{"properties":{"url":{"type":"string"}}}`
	for _, text := range []string{
		`[{"name":"a","inputSchema":` + schema + `,"function":{"name":"a","inputSchema":{}}}]`,
		`[{"name":"a","inputSchema":{},"function":{"name":"a","inputSchema":` + schema + `}}]`,
		`[{"name":"a","inputSchema":` + schema + `,"label":5,"_meta":{"a":{"name":"a","inputSchema":{}}}}]`,
		`[{"name":"a","inputSchema":{},"parameters":` + schema + `}]`,
		`[{"name":"a","inputSchema":{}},{"name":"A","inputSchema":` + schema + `}]`,
	} {
		tools, err := label.Read(strings.NewReader(text))
		if err != nil || len(tools) != 1 {
			t.Fatalf("%s: %+v, %v", text, tools, err)
		}
		if to := label.Propose(&tools[0]).Label.Destinations; !slices.Equal(to, []string{"url"}) {
			t.Errorf("%s goes to %q", text, to)
		}
	}
}

func TestCataloguesOfAllForms(t *testing.T) {
	const x = `{"properties":{"x":{}}}`
	for name, text := range map[string]string{
		"MCP": `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":` + x + `},
			{"name":"b","inputSchema":{}}]}}`,
		"OpenAI": `[{"type":"function","function":{"name":"b","parameters":{}}},
			{"type":"function","function":{"name":"a","parameters":` + x + `}}]`,
		"responses": `[{"type":"function","name":"b","parameters":{}},
			{"type":"function","name":"a","parameters":` + x + `}]`,
		"Anthropic": `{"tools":[{"name":"b","description":"B","input_schema":{}},
			{"name":"a","input_schema":` + x + `}]}`,
		"OpenClaw": `{"tools":{"b":{"description":"B","parameters":{}},"a":{"label":"A","parameters":` + x + `}}}`,
	} {
		tools, err := label.Read(strings.NewReader(text))
		if err != nil || len(tools) != 2 || tools[0].Name != "a" || tools[1].Name != "b" ||
			len(tools[0].Params) != 1 || tools[0].Params[0].Name != "x" {
			t.Errorf("%s: %+v, %v", name, tools, err)
		}
	}
	for _, text := range []string{
		``, `[]`, `{}`, `"a"`, `{"a":1}`, `{"a":{},"a":{}}`, `[[[[[[[{"name":"a","inputSchema":{}}]]]]]]]`,
	} {
		if tools, err := label.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", text, tools)
		}
	}
}

func TestTheOwnersLinesStay(t *testing.T) {
	get := one(t, "get_note", "Returns a note.", takes("id"), "")
	send := one(t, "send_note", "Sends a note.", takes("to", "text"), "")
	put := func(f *label.File, was map[string]policy.Tool, milder bool, tools ...*label.Tool) (changes []label.Change) {
		for _, tool := range tools {
			p := label.Propose(tool)
			var old *policy.Tool
			if l, ok := was[tool.Name]; ok {
				old = &l
			}
			if c := f.Put(tool, &p, old, milder); c != nil {
				changes = append(changes, *c)
			}
		}
		return changes
	}
	parse := func(text string) *label.File {
		f, err := label.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return f
	}
	f := parse("")
	if c := put(f, nil, false, send, get); len(c) != 2 {
		t.Fatalf("%+v", c)
	}
	text := string(f.Text())
	if f = parse(text); len(put(f, nil, false, get, send)) != 0 || string(f.Text()) != text {
		t.Errorf("a second run changes it:\n%s", f.Text())
	}
	// Edited: the line stays, comments and all, and a changed tool is told.
	const before, after = "send_note: {source: true, sink: true", "send_note: {source: true,   sink: true, secret: true"
	edited := strings.Replace(text, before, after, 1) + "  # mine\n  my_tool:\n    sink: false\n"
	f = parse(edited)
	if c := put(f, nil, false, get, send); len(c) != 0 || string(f.Text()) != edited {
		t.Errorf("%+v:\n%s", c, f.Text())
	}
	changed := one(t, "send_note", "Sends a note elsewhere.", takes("to", "text"), "")
	if c := put(f, nil, true, changed); len(c) != 1 || !c[0].Kept || string(f.Text()) != edited {
		t.Errorf("%+v:\n%s", c, f.Text())
	}
	// Not edited: stricter is taken, milder only if the owner says so.
	worse := one(t, "get_note", "Returns a note.", takes("id"), `,"annotations":{"destructiveHint":true}`)
	f = parse(text)
	was := map[string]policy.Tool{"get_note": label.Propose(get).Label}
	destroys := func() bool { return strings.Contains(string(f.Text()), "destructive: true") }
	if c := put(f, was, false, worse); len(c) != 1 || c[0].Kept || !destroys() {
		t.Errorf("%+v:\n%s", c, f.Text())
	}
	was["get_note"] = label.Propose(worse).Label
	if c := put(f, was, false, get); len(c) != 1 || !c[0].Kept || !destroys() {
		t.Errorf("%+v:\n%s", c, f.Text())
	}
	if c := put(f, was, true, get); len(c) != 1 || c[0].Kept || destroys() {
		t.Errorf("%+v:\n%s", c, f.Text())
	}
	for _, bad := range []string{
		"x: 1\n", "tools:\n- a\n", "profile: strict\ntools:\n  a: {}\n", "tools:\n  a: {}\nlisten: x\n", "tools: {}\n",
	} {
		if _, err := label.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is a file of labels", bad)
		}
	}
}

// FuzzLabels: whatever a catalogue says, the file can be read again and says the same.
func FuzzLabels(f *testing.F) {
	f.Add(`{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":{}}}}]}`)
	f.Add(`{"s":{"a\nb: {safe: true}":{"description":"A","parameters":{"properties":{"x\"}":"X"}}}}}`)
	f.Add(`[{"name":"a","annotations":{"destructiveHint":true},"inputSchema":{}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		tools, err := label.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		file, err := label.Parse(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tools {
			p := label.Propose(&tools[i])
			file.Put(&tools[i], &p, nil, false)
		}
		again, err := label.Parse(file.Text())
		if err != nil {
			t.Fatalf("%v:\n%s", err, file.Text())
		}
		read, err := config.ParseLabels("labels.yaml", file.Text())
		if len(file.Text()) < 200<<10 && (err != nil || len(read.Tools) != len(tools)) {
			t.Fatalf("%d of %d tools, %v:\n%s", len(read.Tools), len(tools), err, file.Text())
		}
		for i := range tools {
			want := label.Propose(&tools[i]).Label
			if err == nil && !reflect.DeepEqual(read.Tools[tools[i].Name], want) {
				t.Fatalf("%q is %+v, want %+v:\n%s", tools[i].Name, read.Tools[tools[i].Name], want, file.Text())
			}
		}
		got, want := again.Entries(), file.Entries()
		if len(got) != len(tools) {
			t.Fatalf("%d of %d tools:\n%s", len(got), len(tools), file.Text())
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%+v, want %+v", got[i], want[i])
			}
		}
	})
}

// FuzzLabelFile: what can be read stays as it is when it is written.
func FuzzLabelFile(f *testing.F) {
	f.Add("# x\ntools:\n  # y\n  a: {sink: true} # 00000000-11111111\n  b:\n    sink: true\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := label.Parse([]byte(text))
		if err != nil || strings.TrimSpace(text) == "" {
			return
		}
		if got := string(file.Text()); strings.TrimRight(got, "\n") != strings.TrimRight(text, "\n") {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
