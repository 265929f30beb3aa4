package verifier

import (
	"slices"
	"strings"
	"sync"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/turns"
)

// sites remembers, for each turn, which hosts a person approved, which pages were got
// and which links these hold, as fingerprints. It is bounded and belongs to this
// process: what it does not know is asked about.
type sites struct {
	o        *Options
	hide     *hiding
	over     func(turns.Key) bool // whether a turn is over
	exposure *exposure

	mu    sync.Mutex
	turns recent.Map[turns.Key, *site]
}

// site is what is known of one turn.
type site struct {
	approved []string                         // hosts of pages to which a person said yes
	pages    map[fetched]string               // the host of a page, by the call that got it
	links    map[string][]lineage.Fingerprint // by host
	followed int                              // how many pages passed for this reason
}

// fetched is a call that gets a page: the runtime's id of it, and its tool.
type fetched struct{ id, tool string }

const (
	sitesSize     = 1000
	mostPages     = 100  // of a turn
	mostSiteLinks = 2000 // of a host
	// mostFollowed is how many pages of a turn pass for this reason. Which link of many is followed tells its host something.
	mostFollowed = 10
)

// find is what is known of a turn. The caller holds the lock.
func (s *sites) find(k turns.Key) *site {
	one, known := s.turns.Get(k)
	if !known {
		one = &site{pages: map[fetched]string{}, links: map[string][]lineage.Fingerprint{}}
	}
	s.turns.Put(k, one, sitesSize)
	return one
}

// allowed notes a page that is about to be got.
func (s *sites) allowed(t *evaluation) {
	page := &t.plan.Page
	if t.call.Context.RunID == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.find(turns.KeyOf(t.call))
	if t.person && !slices.Contains(one.approved, page.Host) && len(one.approved) < mostPages {
		one.approved = append(one.approved, page.Host)
	}
	if id := t.call.Context.ToolCallID; id != "" && len(one.pages) < mostPages {
		one.pages[fetched{id, t.call.Tool}] = page.Host
	}
}

// returned keeps the links of a page that was got in this turn. It reports false for
// anything else that came in.
func (s *sites) returned(h *eventEvaluation) bool {
	r := &h.event.Returned
	if h.event.Name != loop.AfterToolCall || r.Changed || r.ToolCallID == "" || h.call.Context.RunID == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, known := s.turns.Get(turns.KeyOf(h.call))
	if !known {
		return false
	}
	call := fetched{r.ToolCallID, r.Tool}
	host := one.pages[call]
	if host == "" || r.Origin != "" && !strings.EqualFold(r.Origin, host) { // it led elsewhere
		return false
	}
	delete(one.pages, call) // one result for a call
	for _, f := range r.Seen.Fingerprints {
		if strings.HasPrefix(string(f), string(lineage.URL)+":") && len(one.links[host]) < mostSiteLinks && !slices.Contains(one.links[host], f) {
			one.links[host] = append(one.links[host], f)
		}
	}
	return true
}

// lets reports whether the call gets a page that the user typed the address of, or that a page links to which was got from the same host in
// this turn. The user typed that host or a person approved it, in this turn, and so it is with all else that came into the conversation from outside.
func (s *sites) lets(t *evaluation) bool {
	page := &t.plan.Page
	if page.Address == "" || !page.Owners || t.unheard() || t.call.Context.RunID == "" || s.over(turns.KeyOf(t.call)) || !bearsNothing(s.hide.shown(t)) {
		return false
	}
	approved, how := s.reaches(turns.KeyOf(t.call), page, s.o.Lineage(t.call.Client))
	if how == "" {
		return false
	}
	mine := func(host string) bool { return page.HostTyped(host) || slices.Contains(approved, host) }
	if !mine(page.Host) || !s.exposure.onlyFrom(t.convID, func(from string) bool { host, ok := strings.CutPrefix(from, pageOf("")); return ok && mine(host) }) {
		return false
	}
	if !s.follow(turns.KeyOf(t.call)) {
		return false
	}
	t.because(policy.SiteRule, "This only gets a page of "+page.Host+", "+how+", and nothing else came in from outside")
	return true
}

// follow counts a page that is to pass, before it does: calls that come at the same moment are counted, too.
func (s *sites) follow(k turns.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.find(k)
	one.followed++
	return one.followed <= mostFollowed
}

// reaches says which hosts a person approved in a turn, and how the address of a page is known there; empty: it is not.
func (s *sites) reaches(k turns.Key, page *policy.Page, keys []lineage.Key) (approved []string, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, known := s.turns.Get(k)
	if !known {
		one = &site{}
	}
	approved = slices.Clone(one.approved)
	isLink := func(key lineage.Key) bool {
		return page.Link != "" && slices.Contains(one.links[page.Host], key.Of(lineage.URL, page.Link))
	}
	switch {
	case page.Typed:
		how = "whose address you typed"
	case slices.ContainsFunc(keys, isLink):
		how = "to which a page of the same host links"
	}
	return approved, how
}
