package channeltest

import (
	"net/http"
	"sync"
)

// Faults is a part for fakes: the HTTP side of Break and Hold, and taps that come
// twice. The zero Faults is none.
type Faults struct {
	mu       sync.Mutex
	fault    Fault
	met      int
	repaired chan struct{}
	held     chan struct{}
	again    int // taps that come twice
}

// Break makes calls fail from now on; the zero Fault mends them and ends those
// that hang.
func (f *Faults) Break(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.repaired != nil {
		close(f.repaired)
	}
	f.fault, f.met, f.repaired = x, 0, make(chan struct{})
}

// Hold keeps answers back until release is called.
func (f *Faults) Hold() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := make(chan struct{})
	f.held = held
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held = nil
		close(held)
	})
}

// Repeat lets the next n taps come twice, as one and the same event.
func (f *Faults) Repeat(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = n
}

// Repeats reports whether a tap that comes now comes twice.
func (f *Faults) Repeats() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again--
	if f.again < 0 {
		f.again = 0
		return false
	}
	return true
}

// Meet serves a fault, if there is one now. What the platform says with its own
// words and status is up to answer.
func (f *Faults) Meet(w http.ResponseWriter, r *http.Request, answer func(w http.ResponseWriter, x Fault)) bool {
	x, repaired := f.next()
	switch x.Kind {
	case None:
		return false
	case Hangs:
		select {
		case <-repaired:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	case Down:
		panic(http.ErrAbortHandler)
	case Malformed:
		w.WriteHeader(http.StatusOK)
		w.Write([]byte("<html>it's me, a proxy</html>")) //nolint:errcheck // the client may have gone
	case Moved:
		http.Redirect(w, r, x.Says, http.StatusTemporaryRedirect)
	default:
		answer(w, x)
	}
	return true
}

func (f *Faults) next() (Fault, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.met++; f.fault.Times > 0 && f.met > f.fault.Times {
		return Fault{}, nil
	}
	return f.fault, f.repaired
}

// Wait keeps an answer back while answers are held.
func (f *Faults) Wait(r *http.Request) {
	f.mu.Lock()
	held := f.held
	f.mu.Unlock()
	if held == nil {
		return
	}
	select {
	case <-held:
	case <-r.Context().Done():
	}
}
