package lineage_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/taint"
)

type vectors struct {
	Secret string `json:"secret"`
	Key    string `json:"key"`
	Texts  []struct {
		Name   string      `json:"name"`
		Text   string      `json:"text"`
		Values [][2]string `json:"values"`
		Runs   []string    `json:"runs"`
		extract
	} `json:"texts"`
	Repeated []struct {
		Name  string `json:"name"`
		Text  string `json:"text"`
		Times int    `json:"times"`
		extract
	} `json:"repeated"`
	Traces []struct {
		Name string `json:"name"`
		Seen []struct {
			lineage.Source
			Text string `json:"text"`
		} `json:"seen"`
		Call      int             `json:"call"`
		Params    json.RawMessage `json:"params"`
		Arguments []struct {
			Path string       `json:"path"`
			From lineage.From `json:"from"`
			Says string       `json:"says"`
		} `json:"arguments"`
	} `json:"traces"`
}

func load(t *testing.T) (v vectors, key lineage.Key) {
	t.Helper()
	text, err := os.ReadFile("../docs/spec/lineage-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v, lineage.NewKey([]byte(v.Secret))
}

func same(t *testing.T, got lineage.Extract, want extract) {
	t.Helper()
	if !slices.Equal(got.Fingerprints, want.Fingerprints) || got.Truncated != want.Truncated {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestVectors(t *testing.T) {
	v, key := load(t)
	if got := hex.EncodeToString(key[:]); got != v.Key {
		t.Errorf("the key is %s, want %s", got, v.Key)
	}
	for _, c := range v.Texts {
		t.Run(c.Name, func(t *testing.T) {
			got := key.Extract(c.Text)
			same(t, got, c.extract)
			for _, value := range c.Values {
				if f := key.Of(lineage.Kind(value[0]), value[1]); !slices.Contains(got.Fingerprints, f) {
					t.Errorf("the fingerprint of %s is not among them", value)
				}
			}
		})
	}
	for _, c := range v.Repeated {
		t.Run(c.Name, func(t *testing.T) { same(t, key.Extract(strings.Repeat(c.Text, c.Times)), c.extract) })
	}
}

func TestTraces(t *testing.T) {
	v, key := load(t)
	for _, c := range v.Traces {
		t.Run(c.Name, func(t *testing.T) {
			var seen []lineage.Seen
			for _, s := range c.Seen {
				seen = append(seen, lineage.Seen{Source: s.Source, Fingerprints: key.Extract(s.Text).Fingerprints})
			}
			got := argumentsOf(t, lineage.NewIndex(seen), c.Params, key)
			if len(got) != len(c.Arguments) {
				t.Fatalf("got %d arguments, want %d: %v", len(got), len(c.Arguments), got)
			}
			for i, want := range c.Arguments {
				if a := got[i]; a.Path != want.Path || a.From != want.From || a.Origin(c.Call).String() != want.Says {
					t.Errorf("%s: got %s, %q; want %s, %q\n%+v", a.Path, a.From, a.Origin(c.Call).String(), want.From, want.Says, a)
				}
			}
		})
	}
}

// page is a long text, of which not every run of words is kept.
func page(words int) string {
	var b strings.Builder
	for i := range words {
		b.WriteString(strings.Map(func(r rune) rune { return r - '0' + 'a' }, jsonNumber(i*7919%100003)) + " ")
	}
	return b.String()
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func trace(t *testing.T, key lineage.Key, source lineage.Source, text string, arg any) lineage.Argument {
	t.Helper()
	params, err := json.Marshal(map[string]any{"x": arg})
	if err != nil {
		t.Fatal(err)
	}
	got := argumentsOf(t, lineage.NewIndex([]lineage.Seen{{Source: source, Fingerprints: key.Extract(text).Fingerprints}}), params, key)
	if len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	return got[0]
}

func TestAPassageIsFoundWhereverItWasCopiedFrom(t *testing.T) {
	key, web := lineage.NewKey([]byte(secret)), lineage.Source{Tool: "web_fetch", Level: taint.Untrusted}
	text := page(3000)
	words := strings.Fields(text)
	for from := 0; from+30 < len(words); from += 97 {
		copied := "please do this: " + strings.ToUpper(strings.Join(words[from:from+16], ", "))
		if a := trace(t, key, web, text, copied); a.From != lineage.Tool {
			t.Errorf("a passage at word %d is %s", from, a.From)
		}
	}
}

func TestOneWordExchangedIsNotSaidByTheUser(t *testing.T) {
	key, user := lineage.NewKey([]byte(secret)), lineage.Source{User: true}
	said := "Dear Bob, please move the meeting with the auditors to Friday at noon, thank you and best regards"
	if a := trace(t, key, user, said, said); a.From != lineage.User {
		t.Errorf("what the user said is %s", a.From)
	}
	for _, w := range strings.Fields(said) {
		other := strings.Replace(said, w, "mallory", 1)
		if a := trace(t, key, user, said, other); a.From == lineage.User {
			t.Errorf("%q counts as said by the user", other)
		}
	}
}

func TestALongArgumentIsNotSaidByTheUserForItsBeginning(t *testing.T) {
	key := lineage.NewKey([]byte(secret))
	a := trace(t, key, lineage.Source{User: true}, "/home/ann", "/home/ann"+strings.Repeat(" ", lineage.MaxChars)+"/etc/passwd")
	if a.From != lineage.Partly || !a.Cut {
		t.Errorf("got %+v", a)
	}
}

func TestManyPartsHideNone(t *testing.T) {
	key := lineage.NewKey([]byte(secret))
	said := ""
	for i := range 100 {
		said += " /home/ann/" + jsonNumber(i)
	}
	seen := []lineage.Seen{
		{Source: lineage.Source{User: true}, Fingerprints: key.Extract(said).Fingerprints},
		{Source: lineage.Source{Tool: "web_fetch", Level: taint.Untrusted}, Fingerprints: key.Extract("mallory@evil.example").Fingerprints},
	}
	params, err := json.Marshal(map[string]string{"x": said + " mallory@evil.example"})
	if err != nil {
		t.Fatal(err)
	}
	a := argumentsOf(t, lineage.NewIndex(seen), params, key)[0]
	if a.From != lineage.Tool || len(a.Parts) > 64 || a.Parts[0].Text != "mallory@evil.example" {
		t.Errorf("got %s and %d parts, the first %+v", a.From, len(a.Parts), a.Parts[0])
	}
}

func TestWhileASecretIsReplacedBothKeysCount(t *testing.T) {
	old, now := lineage.NewKey([]byte("old")), lineage.NewKey([]byte("new"))
	x := lineage.NewIndex([]lineage.Seen{{Source: lineage.Source{User: true}, Fingerprints: old.Extract("bob@example.com").Fingerprints}})
	params := jsontext.Value(`{"to":"bob@example.com"}`)
	if got := argumentsOf(t, x, params, now, old)[0].From; got != lineage.User {
		t.Errorf("with both keys: %s", got)
	}
	if got := argumentsOf(t, x, params, now)[0].From; got != lineage.Nowhere {
		t.Errorf("with the new one alone: %s", got)
	}
}

func TestOnlyTheRightFormIsAFingerprint(t *testing.T) {
	for text, want := range map[string]bool{
		"email:0123456789abcdef": true, "words:0123456789abcdef": true,
		"": false, ":0123456789abcdef": false, "mail:0123456789abcdef": false, "email:0123456789ABCDEF": false,
		"email:0123456789abcde": false, "email:0123456789abcdef0": false, "email 0123456789abcdef": false,
	} {
		if got := lineage.Fingerprint(text).Valid(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
