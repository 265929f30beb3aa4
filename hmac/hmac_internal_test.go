package hmac

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The vectors that docs/spec/protocol.md shows.
const (
	vectorSecret  = "verifier-test-secret"
	vectorBody    = `{"version":1}`
	vectorRequest = "6dbdddac6871fb7207c55a5faf790b494d4abd719eec90ae878506e8d22b938e"
	vectorEmpty   = "d53973c73f2083a0eb3638e765943b3db04487d49971ddefee407e4996bf977e"
	vectorAnswer  = "41e20c88a69d02b168ab11b6500f5dc8d343b5a78f6e67bf908ef7801995e7f5" // to r-1, {"decision":"deny"}
	vectorSeal    = "674a19f0b4989dc0456259068bc71580"                                 // key server-key, purpose grant, parts a, bc
)

func TestVectorsAreWhatOthersCompute(t *testing.T) {
	for what, got := range map[string][2]string{
		"request":    {Sign([]byte(vectorSecret), []byte(vectorBody)), vectorRequest},
		"empty body": {Sign([]byte(vectorSecret), nil), vectorEmpty},
		"answer":     {SignAnswer([]byte(vectorSecret), "r-1", []byte(`{"decision":"deny"}`)), vectorAnswer},
		"seal":       {Key("server-key").Seal("grant", "a", "bc"), vectorSeal},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %s, want %s", what, got[0], got[1])
		}
	}
}

func TestMatchFindsTheFirstSecretThatFits(t *testing.T) {
	body, right, wrong := []byte(vectorBody), []byte(vectorSecret), []byte("another")
	for name, tt := range map[string]struct {
		secrets [][]byte
		want    int
	}{
		"only":         {[][]byte{right}, 0},
		"H06 new, old": {[][]byte{wrong, right}, 1},
		"old, new":     {[][]byte{right, wrong}, 0},
		"twice":        {[][]byte{wrong, right, right}, 1},
		"H06 removed":  {[][]byte{wrong}, -1},
		"beside empty": {[][]byte{nil, {}, right}, 2},
		"none":         {nil, -1},
	} {
		if got := Match(vectorRequest, body, tt.secrets...); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
}

func TestH01ASignatureThatEndsInZeroesNeedsThem(t *testing.T) {
	for i := range 5000 {
		body := []byte(strings.Repeat("x", i))
		header, zeroes := strings.CutSuffix(Sign([]byte(vectorSecret), body), "00")
		if zeroes {
			for _, end := range []string{"", "0", "zz", "0z"} {
				if Match(header+end, body, []byte(vectorSecret)) != -1 {
					t.Errorf("%s matches", header+end)
				}
			}
			return
		}
	}
	t.Fatal("no such signature")
}

func TestAnEmptySecretSignsAndMatchesNothing(t *testing.T) {
	// HMAC-SHA256 of the body under the empty key, which anyone can compute.
	if Match(hex.EncodeToString(mac(nil, []byte(vectorBody))), []byte(vectorBody), nil, []byte{}) != -1 {
		t.Error("an empty secret matches")
	}
	if MatchAnswer(nil, "r", nil, hex.EncodeToString(mac(nil, answerTo("r")))) {
		t.Error("an empty secret matches an answer")
	}
	if s := Sign(nil, nil) + SignAnswer(nil, "r", nil) + Key(nil).Seal("p"); s != "" {
		t.Errorf("an empty secret signs: %q", s)
	}
	none := hex.EncodeToString(mac(nil, []byte("\x00\x00\x00\x00\x00\x00\x00\x01p")))[:32]
	if (Key{}).Check(none, "p") || Key(nil).Check("", "p") {
		t.Error("an empty key checks")
	}
}

func TestAnswersAreBoundToTheirRequest(t *testing.T) {
	secret, body := []byte(vectorSecret), []byte(`{"decision":"deny"}`)
	if !MatchAnswer(secret, "r-1", body, vectorAnswer) || !MatchAnswer(secret, "r-1", body, "sha256="+vectorAnswer) {
		t.Fatal("the right answer does not match")
	}
	for name, ok := range map[string]bool{
		"other request": MatchAnswer(secret, "r-2", body, vectorAnswer),
		"other body":    MatchAnswer(secret, "r-1", []byte(`{"decision":"allow"}`), vectorAnswer),
		"other secret":  MatchAnswer([]byte("x"), "r-1", body, vectorAnswer),
		"no header":     MatchAnswer(secret, "r-1", body, ""),
		"as a request":  Match(vectorAnswer, body, secret) != -1,
		"request's":     MatchAnswer(secret, "r-1", body, Sign(secret, body)),
	} {
		if ok {
			t.Errorf("%s matches", name)
		}
	}
}

func TestSealsDoNotCollide(t *testing.T) {
	k, seen := Key("server-key"), map[string]int{}
	for i, parts := range [][]string{
		{"grant"}, {"grant", ""}, {"grant", "", ""}, {"grant", "a", "bc"}, {"grant", "ab", "c"}, {"grant", "abc"}, {"grant", "a", "b", "c"},
		{"vote", "a", "bc"}, {"granta", "bc"}, {"grant\x00", "a"}, {"grant", "\x00a"}, {"", "grant"}, {"grant", "bc", "a"}, {""},
	} {
		s := k.Seal(parts[0], parts[1:]...)
		if j, ok := seen[s]; ok {
			t.Errorf("lists %d and %d share %s", i, j, s)
		}
		seen[s] = i
		if len(s) != 32 || !k.Check(s, parts[0], parts[1:]...) || Key("other").Check(s, parts[0], parts[1:]...) {
			t.Errorf("list %d: %s does not check, or under another key", i, s)
		}
	}
}

func TestCheckRefusesWhatIsNotASeal(t *testing.T) {
	k := Key("server-key")
	for _, m := range []string{"", vectorSeal[:31], vectorSeal + "0", vectorSeal[:31] + "g", vectorSeal[:31] + "1", " " + vectorSeal[1:], strings.Repeat("0", 32)} {
		if k.Check(m, "grant", "a", "bc") {
			t.Errorf("%q checks", m)
		}
	}
	if k.Check(vectorSeal, "vote", "a", "bc") || k.Check(vectorSeal, "grant", "a", "bd") || k.Check(vectorSeal, "grant", "a") {
		t.Error("a seal checks for something else")
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"", vectorRequest, "sha256=" + vectorRequest, strings.ToUpper(vectorRequest), "sha256=", vectorEmpty} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		digits := strings.TrimPrefix(header, "sha256=")
		want := -1
		if len(digits) == 64 && strings.ToLower(digits) == vectorRequest {
			want = 1
		}
		if got := Match(header, []byte(vectorBody), []byte("another"), []byte(vectorSecret)); got != want {
			t.Errorf("%q: got %d, want %d", header, got, want)
		}
		if MatchAnswer([]byte(vectorSecret), "r-1", []byte(vectorBody), header) {
			t.Errorf("%q signs an answer", header)
		}
	})
}
