package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/test/long"
)

// onBothCold is onBoth for gateways that the test starts itself.
func onBothCold(t *testing.T, edit func(*config.Config), test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, cold(t, edit)) })
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		r := cold(t, func(c *config.Config) {
			c.Store.URL = config.NewSecret(server.URL())
			if edit != nil {
				edit(c)
			}
		})
		r.redis = server
		test(t, r)
	})
}

// story is an allowed fetch, an exec that the owner allows, and one that the
// owner denies, as the outside saw it until the process died.
type story struct {
	fetched  bool // the client has read allow
	ran      bool
	approved bool // the owner's yes was sent; it may not have counted
	denied   bool // the owner's no was counted
	end      bool
	heard    []string
}

func tale() (get, ls, rm call) {
	get, ls, rm = fetch(ownerIn("m")), sh("touch x", ownerIn("m")), sh("rm -r x", ownerIn("m"))
	get.id, ls.id, rm.id = "fetch", "approved", "denied"
	get.at, ls.at, rm.at = time.Now(), time.Now(), time.Now()
	return get, ls, rm
}

func (p *process) tellStory(get, ls, rm call) (s story) {
	p.t.Helper()
	a, _ := p.attempt(get)
	s.heard = append(s.heard, a.raw)
	if s.fetched = a.allowed(); !s.fetched { // it has died, or a busy machine's store was too slow: then nothing has tainted what comes next
		return s
	}
	held := p.hold(ls)
	if ref := p.card(held); ref != "" {
		s.approved = true
		p.tell(map[string]any{"ref": ref, "allow": true})
	}
	a = <-held
	s.heard = append(s.heard, a.raw)
	if s.ran = a.allowed(); a.status == 0 {
		return s
	}
	held = p.hold(rm)
	if ref := p.card(held); ref != "" {
		v, _ := p.tell(map[string]any{"ref": ref, "allow": false, "reason": "no"})
		s.denied = v.Kind == "counted"
	}
	a = <-held
	s.heard = append(s.heard, a.raw)
	if a.allowed() && s.fetched {
		p.t.Error("the denied call was allowed")
	}
	s.end = a.status != 0 && s.fetched && s.ran && s.denied
	return s
}

// aftermath starts again on the same state and looks for what must not be.
func (r *rig) aftermath(s story, get, ls, rm call) {
	r.t.Helper()
	r.soundRecord()
	recorded := map[string]bool{}
	for _, e := range r.decided() {
		recorded[e.RequestID] = recorded[e.RequestID] || e.Decision == audit.Allow
	}
	if s.fetched && !recorded[get.id] || s.ran && !recorded[ls.id] {
		r.t.Error("an allow left the process and is not in the record")
	}
	if recorded[rm.id] || recorded[ls.id] && !s.approved {
		r.t.Error("the record holds an allow that nobody approved")
	}
	r.start()
	if s.fetched {
		r.mustAsk(sh("whoami", ownerIn("m")))
		if e := r.last(); e.Level != "untrusted" {
			r.t.Errorf("the level is %s", e.Level)
		}
	}
	if a := r.send(impatient(rm)); a.allowed() && s.fetched { // the same call in another request
		r.t.Errorf("the denied call came through afterwards: %s", a.raw)
	}
	passed := 0
	for _, retry := range []call{ls, sh("touch x", ownerIn("m")), sh("touch x", ownerIn("m"))} {
		if retry.id == "" {
			retry = impatient(retry)
		}
		if r.send(retry).allowed() {
			passed++
		}
	}
	if most := map[bool]int{true: 1}[s.approved]; s.fetched && passed > most {
		r.t.Errorf("%d identical calls passed, %d was approved", passed, most)
	}
	r.quit()
	r.soundRecord()
}

// Kill -9 between any two steps of a decision: nothing is allowed that was not
// approved, nothing is allowed that is not recorded, the level is kept.
func TestKill9BetweenAnyTwoStepsOfADecision(t *testing.T) {
	long.Only(t, "kill -9")
	t.Parallel()
	const most = 120 // far more steps than the story has
	atOnce := func(c *config.Config) { c.Webhook.Hold = time.Millisecond }
	onBothCold(t, atOnce, func(t *testing.T, shared *rig) {
		t.Parallel()
		died := func(b blow, database int) (ended bool) {
			t.Run(b.String(), func(t *testing.T) {
				r := cold(t, func(c *config.Config) {
					atOnce(c)
					if shared.redis != nil {
						c.Store.URL = config.NewSecret(fmt.Sprintf("redis://%s/%d", shared.redis.Addr(), database))
					}
				})
				get, ls, rm := tale()
				p := r.spawn(b)
				s := p.tellStory(get, ls, rm)
				p.kill()
				r.aftermath(s, get, ls, rm)
				if t.Failed() {
					t.Logf("%+v\n%s", s, r.log)
				}
				ended = s.end
			})
			return ended
		}
		for n := 1; n <= most && !t.Failed(); n++ {
			before, after := died(blow{n, true}, 2*n), died(blow{n, false}, 2*n+1)
			if before && after {
				t.Logf("the story has %d steps", n-1)
				return
			}
		}
		t.Fatal("the story does not end")
	})
}
