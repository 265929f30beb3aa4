package recent_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/recent"
)

func TestTheLastEntriesAreKept(t *testing.T) {
	var m recent.Map[int, int]
	if _, known := m.Get(1); known {
		t.Fatal("an empty map knows something")
	}
	for i := range 100 {
		m.Put(i, 10*i, 10)
		for j := max(0, i-9); j <= i; j++ {
			if v, known := m.Get(j); !known || v != 10*j {
				t.Fatalf("after %d: %d is %d, %t", i, j, v, known)
			}
		}
		if n := len(slices.Collect(m.All())); n > 20 {
			t.Fatalf("%d are kept", n)
		}
	}
	if _, known := m.Get(50); known {
		t.Error("nothing is forgotten")
	}
}

func TestAnEntryThatIsPutAgainStaysAndIsGivenOnce(t *testing.T) {
	var m recent.Map[string, int]
	for i := range 100 {
		m.Put("used", i, 3)
		m.Put(string(rune('a'+i)), i, 3)
	}
	if v, known := m.Get("used"); !known || v != 99 {
		t.Errorf("%d, %t", v, known)
	}
	all := slices.Collect(m.All())
	if len(all) > 6 || all[0] > all[len(all)-1] && all[len(all)-1] != 99 {
		t.Errorf("%v", all)
	}
}
