package server

import (
	"runtime"
	"testing"
	"time"
)

// What thousands leave behind while they come to be held is collected, though
// nothing else asks for it.
func TestGarbageIsCollectedAfterAThousandWhoAreHeld(t *testing.T) {
	collected := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	s, before := &Server{}, collected()
	for range 999 {
		s.tidy()
	}
	if n := collected() - before; n != 0 {
		t.Errorf("it was collected %d times for those who came before the thousandth", n)
	}
	s.tidy()
	for late := time.Now().Add(20 * time.Second); collected() == before; runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatal("nothing was collected")
		}
	}
}
