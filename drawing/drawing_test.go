package drawing_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/drawing"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// example is the running example of openclaw-provenance, and then some.
func example() *provenance.Graph {
	facts := []provenance.Fact{
		{What: provenance.Began, Session: "agent:main:main"},
		{What: provenance.Held, Kind: provenance.SystemPrompt, Level: taint.System},
		{What: provenance.Held, Kind: provenance.History, Level: taint.Owner},
		{What: provenance.Asked},
		{What: provenance.Called, Tool: "read", Allowed: true, Brings: taint.Local, ID: "c1"},
		{What: provenance.Returned, Tool: "read", Level: taint.Local, ID: "c1"},
		{What: provenance.Asked},
		{What: provenance.Called, Tool: "web_fetch", Allowed: true, Brings: taint.Untrusted, Metadata: provenance.Metadata{Label: "web_fetch example.com"}},
		{What: provenance.Called, Tool: "vestige_search", Allowed: true, Brings: taint.Shared},
		{What: provenance.Asked},
		{What: provenance.Called, Tool: "exec", Tainted: true, Reason: "unanswered"},
		{What: provenance.Blocked, Reason: "This turn has used up its iterations."},
		{What: provenance.Said}, {What: provenance.Ended},
	}
	for i := range facts {
		facts[i].At = int64(i + 1)
	}
	return provenance.Build("00112233445566aa", facts)
}

func TestTheDrawingsStayAsTheyWere(t *testing.T) {
	for name, got := range map[string]string{"example.svg": drawing.SVG(example()), "example.txt": drawing.Text(example())} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (-update writes it anew):\n%s", file, got)
		}
	}
}

// harmless are all elements and attributes that a picture may have.
var harmless = map[string]string{
	"svg": "xmlns role aria-label width height viewBox font-family font-size", "title": "", "desc": "", "defs": "", "g": "tabindex role aria-label class",
	"marker": "id viewBox refX refY markerWidth markerHeight orient", "path": "d fill stroke stroke-dasharray marker-end",
	"rect": "x y width height rx fill stroke stroke-width stroke-dasharray", "text": "x y fill font-size",
}

// parsed reads a picture and fails for whatever could do more than be seen. It
// returns all text in it.
func parsed(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, svg string,
) string {
	t.Helper()
	var text strings.Builder
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		tok, err := dec.Token()
		switch tok := tok.(type) {
		case xml.StartElement:
			known, ok := harmless[tok.Name.Local]
			if !ok {
				t.Fatalf("the picture has an element %s", tok.Name.Local)
			}
			for _, a := range tok.Attr {
				if !strings.Contains(" "+known+" ", " "+a.Name.Local+" ") {
					t.Fatalf("%s has an attribute %s", tok.Name.Local, a.Name.Local)
				}
			}
		case xml.CharData:
			text.Write(tok)
		case xml.ProcInst, xml.Directive, xml.Comment:
			t.Fatalf("the picture has a %T", tok)
		}
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func TestH51NothingInANameIsMarkup(t *testing.T) {
	nasty := "</text><script>alert(1)</script><a href='javascript:1'>\x1b[2J\u202e\x00]]><!--&#60;"
	g := provenance.Build("00112233445566aa", []provenance.Fact{
		{What: provenance.Began, Session: nasty, Agent: nasty, Run: nasty},
		{What: provenance.Held, Kind: provenance.ToolResult, Tool: nasty, Level: taint.Untrusted},
		{What: provenance.Called, Tool: nasty, Reason: nasty, Tainted: true},
		{What: provenance.Called, Tool: "read", Allowed: true, Brings: taint.Untrusted, Metadata: provenance.Metadata{Label: nasty}},
		{What: provenance.Blocked, Reason: nasty},
	})
	for name, text := range map[string]string{"svg": parsed(t, drawing.SVG(g)), "picture": parsed(t, drawing.Picture(g)), "text": drawing.Text(g)} {
		for _, r := range text {
			if r != '\n' && (r < ' ' || r == '\u202e') {
				t.Errorf("%s: %U is shown raw", name, r)
			}
		}
		if !strings.Contains(text, "<script>alert(1)</script>") || !strings.Contains(text, "⟨U+001B⟩") {
			t.Errorf("%s: the name is not shown literally: %s", name, text)
		}
	}
}

// Whatever a graph holds, both drawings come out sound and say every name.
func TestAnyGraphCanBeDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) provenance.Fact {
			return provenance.Fact{
				What: rapid.SampledFrom([]provenance.What{
					provenance.Held, provenance.Asked, provenance.Called, provenance.Returned, provenance.Blocked, provenance.Said,
				}).Draw(t, "what"),
				Level: taint.Level(rapid.IntRange(0, 5).Draw(t, "level")), Kind: provenance.History, Tool: rapid.String().Draw(t, "tool"),
				Allowed: rapid.Bool().Draw(t, "allowed"), Tainted: true, Reason: rapid.String().Draw(t, "reason"),
			}
		}), 0, 20).Draw(t, "facts")
		g := provenance.Build(rapid.String().Draw(t, "id"), facts)
		said := parsed(t, drawing.SVG(g))
		if text := drawing.Text(g); !strings.Contains(said, strings.TrimSpace(text)) {
			t.Fatalf("the picture's description is not %q", text)
		}
		parsed(t, drawing.Picture(g))
	})
}
