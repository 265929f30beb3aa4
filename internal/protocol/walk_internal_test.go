package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWalkGivesEachValueItsPlace(t *testing.T) {
	const params = ` {"path":"\u002fetc","edits":[{"newText":"x\"","n":1.50e3},["y" , null]],"env":{"A.B":{}},"":-0}`
	all, err := Walk([]byte(params))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range all {
		v := &all[i]
		got = append(got, fmt.Sprintf("%s %s=%s %d-%d", string(v.Kind), all.Path(i), v.Text, v.Up, v.Next))
		if v.Up >= 0 && (all[v.Up].Next <= i || all[v.Up].End <= v.End) {
			t.Errorf("%s reaches beyond what is around it", all.Path(i))
		}
		if v.NameAt > 0 && !strings.HasPrefix(params[v.NameAt:], `"`+v.Name+`"`) {
			t.Errorf("the name of %s is not at %d", all.Path(i), v.NameAt)
		}
	}
	want := []string{"{ = -1-12", `" path=/etc 0-2`, "[ edits= 0-9", "{ edits[0]= 2-6", `" edits[0].newText=x" 3-5`,
		"0 edits[0].n=1.50e3 3-6", "[ edits[1]= 2-9", `" edits[1][0]=y 6-8`, "n edits[1][1]=null 6-9",
		"{ env= 0-11", "{ env.A.B= 9-11", "0 =-0 0-12"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if v := all[6]; params[v.At:v.End] != `["y" , null]` {
		t.Errorf("edits[1] is %q", params[v.At:v.End])
	}
}

func TestWalkIsBounded(t *testing.T) {
	many := func(n int) []byte { return []byte(`[` + strings.Repeat("0,", n-2) + `0]`) }
	if all, err := Walk(many(MaxValues)); err != nil || len(all) != MaxValues {
		t.Errorf("%d values, %v", len(all), err)
	}
	if _, err := Walk(many(MaxValues + 1)); err == nil {
		t.Error("one value too many")
	}
	name, list := strings.Repeat("é", 100_000), strings.Repeat(`"",`, 10_000)
	long, err := Walk([]byte(`{"a":{"` + name + `":[` + list + `""]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range long {
		if path := long.Path(i); len(path) > maxPath+len("…") || !utf8.ValidString(path) {
			t.Fatalf("a path of %d bytes", len(path))
		}
	}
}

// Of valid params the walk says what package jsontext says, and of others nothing
// that lies outside.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{
		``, ` {"a":[1,"\ud83d\ude00",{"b":null}],"":"\\\""}`, `{"a" "b"]`, `[}`, `"\`, `{a:1}`, `1 2`, `{"a"}`, "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, params string) {
		all, err := Walk([]byte(params))
		valid := jsontext.Value(params).IsValid()
		if valid && err != nil {
			t.Fatal(err)
		}
		dec := jsontext.NewDecoder(strings.NewReader(params))
		for i := range all {
			v := &all[i]
			if v.At >= v.End || v.End > len(params) || v.Next <= i || v.Next > len(all) || v.Up >= i {
				t.Fatalf("value %d is %+v", i, *v)
			}
			if !valid {
				continue
			}
			if v.NameAt > 0 {
				if tok, err := next(dec); err != nil || tok.String() != v.Name {
					t.Fatalf("the name of value %d is %q, not %v", i, v.Name, tok)
				}
			}
			tok, err := next(dec)
			if err != nil || tok.Kind() != v.Kind || v.Text != "" && tok.String() != v.Text {
				t.Fatalf("value %d is %+v, not %v", i, *v, tok)
			}
		}
	})
}

// next is the next token that opens a value.
func next(dec *jsontext.Decoder) (jsontext.Token, error) {
	for {
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != jsontext.KindEndObject && tok.Kind() != jsontext.KindEndArray {
			return tok, err
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	for name, params := range map[string]string{
		"exec":  `{"command":"git status --short && go test ./...","workdir":"/home/ann/proj"}`,
		"write": fmt.Sprintf(`{"path":"a.go","content":%q}`, strings.Repeat("\tfmt.Println(\"hello\", name)\n", 350)),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Walk([]byte(params)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
