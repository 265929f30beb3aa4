package metrics

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/openclaw-verifier/verifier/verifier"
)

// mostUsual is how many sorts of decisions have their counters at hand. A gateway
// sees few; the others are looked up by their labels each time.
const mostUsual = 16

// sort is what a decision is counted as.
type sort struct {
	decision, by, mode, class, level string
}

func sortOf(o *verifier.Observation) sort {
	s := sort{"deny", o.By, o.Mode, o.Class, o.Level}
	if o.Allow {
		s.decision = "allow"
	}
	return s
}

// counters are those of one sort of decision.
type counters struct {
	sort
	decisions prometheus.Counter
	deciding  prometheus.Observer
}

// usual are the counters of the sorts that came first. Readers take no
// lock: what is added goes into a copy.
type usual struct {
	list   atomic.Pointer[[]counters]
	adding sync.Mutex
}

func (u *usual) find(s *sort) *counters {
	list := u.list.Load()
	if list == nil {
		return nil
	}
	for i := range *list {
		if c := &(*list)[i]; c.sort == *s {
			return c
		}
	}
	return nil
}

func (u *usual) add(c *counters) {
	u.adding.Lock()
	defer u.adding.Unlock()
	if u.find(&c.sort) != nil {
		return
	}
	var list []counters
	if old := u.list.Load(); old != nil {
		list = append(list, *old...)
	}
	if len(list) < mostUsual {
		list = append(list, *c)
		u.list.Store(&list)
	}
}

// counters are those that a decision is counted with.
func (m *Metrics) counters(s sort) *counters {
	if c := m.usual.find(&s); c != nil {
		return c
	}
	c := &counters{s, m.decisions.WithLabelValues(s.decision, s.by, s.mode, s.class, s.level), m.deciding.WithLabelValues(s.decision)}
	m.usual.add(c)
	return c
}
