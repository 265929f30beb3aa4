package toolcall

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWhatCallsAreMadeOfIsPlain(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5 , 0, true , false , null , "x\n\"y\\" ] , "b" : { } } `, `"ü 漢 🙂"`, `0.5`,
		`{"a":{"a":{"a":1}},"b":{"a":1}}`,
	} {
		if !isPlain([]byte(text)) {
			t.Errorf("%s is left to the decoder", text)
		}
	}
}

func TestWhatMayNotBeValidIsNotPlain(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{`, `[1,]`, `[1 2]`, `{"a":1,}`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `1 2`, `{} {}`, `nul`, `truex`, `+1`, `01`, `-`, `1.`, `.5`, `1e5`, `1E400`, `00`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `"\u0041"`, `"\x"`, `"` + "\x1f" + `"`, `"` + "\xff" + `"`, `"` + "\xed\xa0\x80" + `"`, `"abc`, `"abc\`, `"abc\"`,
		strings.Repeat("[", 17) + strings.Repeat("]", 17), strings.Repeat("9", MaxNumber+1), `"` + strings.Repeat("x", MaxBody) + `"`,
	} {
		if isPlain([]byte(text)) {
			t.Errorf("%.40s is taken for plain", text)
		}
	}
}

// What is plain, the decoder accepts: the quick pass only saves its time.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5,true,null,"x\n"],"b":{"c":""}}`, `{"a":1,"a":2}`, `"ü"`, `01`, `[1,]`, ` [ ] `, `-0`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	if text, err := os.ReadFile("../docs/vectors.json"); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !isPlain(text) {
			return
		}
		if err := checkLimits(text, MaxBody); err != nil || !jsontext.Value(text).IsValid() {
			t.Errorf("%q is plain, and yet: valid %v, %v", text, jsontext.Value(text).IsValid(), err)
		}
	})
}
