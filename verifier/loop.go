package verifier

// loop holds a call to what its run may use. What people said of the run at its
// cap is remembered by this process alone: another one asks again.
func (v *Verifier) loop(t *trace) {
	yeses, stopped := 0, false
	if t.plan.Counts() {
		yeses, stopped = v.turns.atCap(t.turnOf())
	}
	t.plan.Loop(yeses, stopped)
}

// answeredLoop keeps what a person said of a call at the cap of its run: a yes
// lets the run go on, a no ends it.
func (v *Verifier) answeredLoop(t *trace, yes bool) {
	if !t.verdict.AtCap || t.call.Context.RunID == "" {
		return
	}
	s := &v.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	k := t.turnOf()
	n := s.find(k)
	if n == nil {
		n = s.begin(t, k)
	}
	if yes {
		n.yeses = max(n.yeses, t.plan.GoesOn())
		return
	}
	n.stopped = true
}

// atCap is what people said of a run at its cap: how often yes, and whether no.
func (s *turns) atCap(k turnKey) (yeses int, stopped bool) {
	if k.run == "" {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(k)
	if n == nil {
		return 0, false
	}
	return n.yeses, n.stopped
}
