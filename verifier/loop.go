package verifier

// reached gives a call or an event the highest iteration that its run has told, so
// that no run gets below its cap by telling none, or less. This process alone
// remembers it, for as long as it remembers the run.
func (v *Verifier) reached(t *evaluation) {
	if t.call.Context.RunID == "" {
		return
	}
	s := &v.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(t.turnOf()); n != nil && n.told {
		t.call.Reached = new(n.iteration)
	}
}

// counted keeps the iteration that a call or an event of a run tells.
func (v *Verifier) counted(t *evaluation, told *int) {
	if told == nil || t.call.Context.RunID == "" {
		return
	}
	s := &v.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.findOrBegin(t)
	n.told, n.iteration = true, max(n.iteration, *told)
}

// loop holds a call to what its run may use. What people said of the run at its
// cap is remembered by this process alone: another one asks again.
func (v *Verifier) loop(t *evaluation) {
	yeses, stopped := 0, false
	if t.plan.Counts() {
		yeses, stopped = v.turns.atCap(t.turnOf())
	}
	t.plan.Loop(yeses, stopped)
}

// answeredLoop keeps what a person said of a call at the cap of its run: a yes
// lets the run go on, a no ends it.
func (v *Verifier) answeredLoop(t *evaluation, yes bool) {
	if !t.verdict.AtCap || t.call.Context.RunID == "" {
		return
	}
	s := &v.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.findOrBegin(t)
	if yes {
		n.approvals = max(n.approvals, t.plan.GoesOn())
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
	return n.approvals, n.stopped
}
