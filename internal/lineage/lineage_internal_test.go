package lineage

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

type vectors struct {
	Secret string `json:"secret"`
	Key    string `json:"key"`
	Texts  []struct {
		Name         string       `json:"name"`
		Repeat       string       `json:"repeat"`
		Times        int          `json:"times"`
		Text         string       `json:"text"`
		Tokens       []string     `json:"tokens"`
		Fingerprints Fingerprints `json:"fingerprints"`
	} `json:"texts"`
	Traces []struct {
		Name string `json:"name"`
		Seen []struct {
			Source
			Text string `json:"text"`
		} `json:"seen"`
		Call      int               `json:"call"`
		Params    json.RawMessage   `json:"params"`
		Arguments map[string]string `json:"arguments"`
	} `json:"traces"`
}

func load(t testing.TB) (v vectors, key Key) {
	t.Helper()
	text, err := os.ReadFile("../../docs/spec/lineage-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v, NewKey([]byte(v.Secret))
}

func TestVectors(t *testing.T) {
	v, key := load(t)
	if got := hex.EncodeToString(key[:]); got != v.Key {
		t.Errorf("the key is %s, want %s", got, v.Key)
	}
	for _, c := range v.Texts {
		t.Run(c.Name, func(t *testing.T) {
			text := strings.Repeat(c.Repeat, c.Times) + c.Text
			folded, _, _ := fold(text, MaxChars)
			got := slices.DeleteFunc(slices.Collect(chunks(folded)), func(s string) bool { return !isToken(s) })
			if !slices.Equal(got, c.Tokens) {
				t.Errorf("tokens %q, want %q", got, c.Tokens)
			}
			if got := key.Extract(text); !bytes.Equal(got, c.Fingerprints) || !got.Valid() {
				t.Errorf("fingerprints %x, want %x", got, c.Fingerprints)
			}
		})
	}
}

func TestTraces(t *testing.T) {
	v, key := load(t)
	for _, c := range v.Traces {
		t.Run(c.Name, func(t *testing.T) {
			var seen []Seen
			for _, s := range c.Seen {
				seen = append(seen, Seen{s.Source, key.Extract(s.Text)})
			}
			origins, all := NewIndex(seen, key).Trace(values(t, string(c.Params)))
			got := map[string]string{}
			for path, o := range origins {
				got[path] = o.String()
			}
			if !all || !maps.Equal(got, c.Arguments) {
				t.Errorf("got  %q\nwant %q", got, c.Arguments)
			}
		})
	}
}

func values(t testing.TB, params string) protocol.Values {
	t.Helper()
	all, err := protocol.Walk([]byte(params))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func said(key Key, text string) []Seen {
	return []Seen{{Source{User: true}, key.Extract(text)}}
}

func TestWhileASecretIsReplacedBothKeysCount(t *testing.T) {
	old, now := NewKey([]byte("old")), NewKey([]byte("new"))
	params, seen := values(t, `{"to":"bob@example.com"}`), said(old, "bob@example.com")
	if got, _ := NewIndex(seen, now, old).Trace(params); got.At("to").From != FromUser {
		t.Errorf("with both keys: %v", got)
	}
	if got, _ := NewIndex(seen, now).Trace(params); got.At("to").From != FromNowhere {
		t.Errorf("with the new one alone: %v", got)
	}
}

// An argument beyond the bounds may have the same path as one that was looked at.
func TestBeyondTheBoundsNothingIsWhollyTheUsers(t *testing.T) {
	_, key := load(t)
	x := NewIndex(said(key, "/home/ann"), key)
	for what, c := range map[string]struct{ params, path string }{
		"many arguments": {`{"x":"/home/ann","l":[` + strings.Repeat("1,", MaxArguments) + `1]}`, "x"},
		"a long one":     {`{"x":"/home/ann` + strings.Repeat(" ", MaxChars) + `/etc/passwd"}`, "x"},
		"many long ones": {`{"a":"` + strings.Repeat("x ", MaxChars/2) + `","x":"/home/ann"}`, "a"},
	} {
		if got, all := x.Trace(values(t, c.params)); all || got.At(c.path).From == FromUser {
			t.Errorf("%s: %v of %+v", what, got.At(c.path), all)
		}
	}
	got, _ := x.Trace(values(t, `{"a":"`+strings.Repeat("x ", MaxChars/2)+`","x":"bob"}`))
	if got.At("x").From != FromNowhere {
		t.Errorf("what was not looked at is %s", got.At("x").From)
	}
}

func TestFingerprintsFromOutsideAreChecked(t *testing.T) {
	for n, want := range map[int]bool{0: true, 8: true, 7: false, 8 * MaxTokens: true, 8 * (MaxTokens + 1): false} {
		if got := make(Fingerprints, n).Valid(); got != want {
			t.Errorf("%d bytes: %v", n, got)
		}
	}
}

// scraps are what texts are made of here: all that the rules look at, torn apart and put together at random.
var scraps = strings.Split(
	`https://|http://|a|Example.COM|evil.example|:443|/a/b|?q=1&u=|#frag|bob|@|bob+x@Example.com|`+
		`.|..|,|;| |  |(|)|[|]|{|}|"|'|<|>|-|--file=|_|~|~/.ssh/id_rsa|/etc/passwd|src\main.go|C:\Users\bob|./x/../y/|`+
		`00|123|1234567|+43 660 1234567|€|1,234.50|INV-2024-001|deadbeef01|v1.2.3|10.0.0.1|report.pdf|the quick `+
		`brown fox|`+
		`Straße|ÄÖÜ|Привет мир|請把錢|😀|Ａｂｃ１２３|“|”|「|—|−|\n|\u0041|\ud800|\u00|\\|\"|\/|\x|\udb40\udc00|=|&|%20|!|?|:|^|`+
		`*|ſ|K`,
	"|",
)

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(scraps[r.IntN(len(scraps))])
		if r.IntN(3) == 0 {
			unseen := []rune{' ', '\n', '\t', 0x200b, 0xad, 0xfeff, 0xa0, 0x3000, 0xe0001, '|'}
			b.WriteRune(unseen[r.IntN(len(unseen))])
		}
	}
	return b.String()
}

func TestTheJavaScriptFindsTheSame(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("node is not here, so the two implementations can't be compared")
	}
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", strings.Repeat("請", 70000), distinct(88 << 10)}
	for range 1000 {
		texts = append(texts, randomText(r))
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	v, key := load(t)
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `
		import { readFileSync } from "node:fs";
		import { extract, lineageKey } from "./lineage.js";
		const key = lineageKey(process.env.LINEAGE_SECRET);
		console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => extract(key, text))));`)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "../../integrations/openclaw", bytes.NewReader(in), os.Stderr
	cmd.Env = append(os.Environ(), "LINEAGE_SECRET="+v.Secret)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var theirs []Fingerprints
	if err := json.Unmarshal(out, &theirs); err != nil || len(theirs) != len(texts) {
		t.Fatal(len(theirs), err)
	}
	for i, text := range texts {
		if ours := key.Extract(text); !bytes.Equal(ours, theirs[i]) {
			t.Errorf("%.200q\n here %x\nthere %x", text, ours, theirs[i])
		}
	}
}

// distinct is a text of so many bytes in which no token comes twice.
func distinct(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "a%07d/b%d.c@d ", i, i)
	}
	return b.String()
}

// No text keeps a core busy, whether it is returned, said or an argument.
func TestNoTextTakesLong(t *testing.T) {
	_, key := load(t)
	other := NewKey([]byte("the one before"))
	for what, text := range map[string]string{
		"distinct tokens": distinct(88 << 10), "a megabyte": distinct(1 << 20),
		"one long token": strings.Repeat("a1/", 30<<10), "short parts": strings.Repeat("a1.b2@c3/", 10<<10),
		"only marks": strings.Repeat("/", 88<<10), "escapes": strings.Repeat(`\u0041`, 15<<10),
	} {
		params, err := json.Marshal(map[string]any{"to": "bob@example.com", "x": text, "l": strings.Fields(text)})
		if err != nil {
			t.Fatal(err)
		}
		all := values(t, string(params))
		took := cputest.Time(func() {
			returned := Seen{Source{Tool: "read", Level: taint.Local}, other.Extract(text)}
			NewIndex(append(said(key, text), returned), key, other).Trace(all)
			AlikeOf(all, []string{"to"}, []string{"x"})
		})
		if took > 250*time.Millisecond {
			t.Errorf("%s takes %s", what, took)
		}
	}
}

// FuzzTrace: any text is fingerprinted within bounds, the same each time, and what a user or a tool wrote comes from
// there when it is an argument.
func FuzzTrace(f *testing.F) {
	for _, s := range append(scraps, strings.Join(scraps, " ")) {
		f.Add(s)
	}
	_, key := load(f)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		got := key.Extract(text)
		if !got.Valid() || !bytes.Equal(got, key.Extract(text)) {
			t.Fatalf("%x", got)
		}
		params, err := json.Marshal(map[string]string{"x": text})
		if err != nil || len(got) == 8*MaxTokens || len(text) > MaxChars {
			return
		}
		all := values(t, string(params))
		user, _ := NewIndex(said(key, text), key).Trace(all)
		if from := user.At("x").From; from == FromTool || from == FromNowhere {
			t.Fatalf("the user's own words: %s", from)
		}
		tool, _ := NewIndex([]Seen{{Source{Tool: "read", Level: taint.Local}, got}}, key).Trace(all)
		if from := tool.At("x").From; from != FromTool && len(got) > 0 {
			t.Fatalf("a tool's own words: %s", from)
		}
	})
}
