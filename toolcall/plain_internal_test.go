package toolcall

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func isPlain(text []byte) bool {
	cur := cursor{plain: plain{text: text}}
	cur.next()
	return cur.done()
}

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
		strings.Repeat("[", 17) + strings.Repeat("]", 17), strings.Repeat("9", MaxNumber+1),
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

// checkAtOnce says whether a body that is read and checked at once is the call
// that is read where it was checked first.
func checkAtOnce(t *testing.T, body []byte) {
	t.Helper()
	for _, kind := range []rest{{tool: true}, {name: "text"}, {tool: true, notice: new(bool)}} {
		var once, twice Call
		if len(body) > MaxBody || !once.readPlain(body, &kind) {
			continue
		}
		about, notice := string(kind.about), kind.notice != nil && *kind.notice
		err := twice.readChecked(body, MaxBody, &kind)
		once.decoded, twice.decoded = nil, nil
		if err != nil || !reflect.DeepEqual(once, twice) || string(kind.about) != about || (kind.notice != nil && *kind.notice) != notice {
			t.Errorf("%q: %v\nat once %+v\nchecked first %+v", body, err, once, twice)
		}
	}
}
