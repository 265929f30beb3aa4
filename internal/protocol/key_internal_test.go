package protocol

import "testing"

func TestASessionKeyHasOneSpelling(t *testing.T) {
	for sent, want := range map[string]string{
		"":                       "",
		"agent:main:main":        "agent:main:main",
		"Agent:Main:MAIN":        "agent:main:main",
		" agent:main:main\t":     "agent:main:main",
		"agent:main:main:":       "agent:main:main",
		"agent:main:main : :":    "agent:main:main",
		" : ":                    "",
		"agent:main:\u212aelvin": "agent:main:\u212aelvin", // the Kelvin sign stays what it is
	} {
		if got := CanonicalKey(sent); got != want {
			t.Errorf("%q is spelled %q, want %q", sent, got, want)
		}
	}
}

func TestAKeyThatCouldBeAnotherOneIsOdd(t *testing.T) {
	for key, want := range map[string]bool{
		"":                                       false,
		"agent:main:main":                        false,
		"agent:main:matrix:room:!ab:example.org": false,
		"agent:main:whatsapp:direct:+15551234567": false,
		"6f1c0e5a-9d7b-4c1e-8f00-0123456789ab":    false,
		"agent:main::main":                        true,
		":agent:main:main":                        true,
		"agent:main: main":                        true,
		"agent:main:main\u200b":                   true,
		"agent:main:main\u00a0":                   true,
		"agent:main:m\u0430in":                    true, // a Cyrillic letter
		"agent:main:\ufeffmain":                   true,
	} {
		if got := OddKey(key); got != want {
			t.Errorf("%q is odd: %t, want %t", key, got, want)
		}
	}
}

func FuzzCanonicalKey(f *testing.F) {
	for _, s := range []string{"agent:main:main", " A:b: :", "::", "\u212a:", "a\u200b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := CanonicalKey(s)
		if again := CanonicalKey(once); again != once {
			t.Errorf("%q becomes %q and then %q", s, once, again)
		}
		if OddKey(once) {
			return
		}
		for _, sent := range []string{once + ":", " " + once, once + "\t", once + " :: "} {
			if got := CanonicalKey(sent); got != once {
				t.Errorf("%q is another conversation than %q: %q", sent, once, got)
			}
		}
	})
}
