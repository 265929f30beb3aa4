package cputest_test

import (
	"crypto/sha256"
	"runtime"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
)

func TestTimeCountsNoWaitsAndElapsedDoes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads are counted on Linux only")
	}
	work := func() {
		text := make([]byte, 1<<20)
		for range 100 {
			sha256.Sum256(text)
		}
	}
	worked := cputest.Time(work)
	if worked < time.Millisecond {
		t.Errorf("a hash of 100 MB took %s", worked)
	}
	wait := func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			work()
		}()
		<-done
	}
	if waited := cputest.Time(wait); waited > worked/2 {
		t.Errorf("the work took %s, and a wait for it %s", worked, waited)
	}
	if passed := cputest.Elapsed(wait); passed < worked/4 {
		t.Errorf("the work took %s, and %s passed", worked, passed)
	}
}
