package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// noExec is a policy that restricts commands.
func noExec(c *config.Config) {
	c.Policy.ToolOverrides = map[string]policy.Override{"exec": always(taint.Restrict)}
}

// wantRestricted checks that a request is denied by the policy in force, and that
// the record says so.
func (r *rig) wantRestricted(what string, a answer, id string) {
	r.t.Helper()
	if a.Decision != "deny" || !strings.HasPrefix(a.Reason, "Not permitted here") {
		r.t.Errorf("%s: got %d %s, want it not to be permitted", what, a.status, a.raw)
	}
	all := r.decisions(id)
	if len(all) == 0 {
		r.t.Fatalf("%s: nothing is recorded", what)
	}
	if e := all[len(all)-1]; e.Decision != audit.Deny || e.Mode != "restrict" {
		r.t.Errorf("%s: the record says %+v", what, e)
	}
}

// The same request comes again after a reload that restricts it. What allowed it
// the first time was the level, a person, or a grant.
func TestH118ARestrictThatCameLaterBeatsAnAllowThatStands(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		untilReady(t, r) // before that all arguments are hidden, and what is hidden gets no grant
		byLevel := sh("date", ownerIn("clean"))
		byPerson := sh("ls", unvouched("m"))
		byGrant := sh("ls -l", unvouched("m"))
		byLevel.id, byPerson.id, byGrant.id = "level", "person", "grant"
		level, person, grant := byLevel.body(), byPerson.body(), byGrant.body()

		r.passBoth(level, person)
		if a := r.twin(grant); !a.allowed() {
			t.Fatalf("by grant: %s", a.raw)
		}
		r.reload(noExec)
		r.wantRestricted("allowed by level", r.twin(level), "level")
		r.wantRestricted("allowed by a person", r.twin(person), "person")
		r.wantRestricted("allowed by a grant", r.twin(grant), "grant")
		fresh := byGrant
		fresh.id = "fresh"
		r.wantRestricted("a new call under the grant", r.twin(fresh.body()), "fresh")

		r.reload(func(*config.Config) {})
		for id, body := range map[string][]byte{"level": level, "person": person, "grant": grant} {
			if a := r.twin(body); !a.allowed() {
				t.Errorf("%s, once it is permitted again: %s", id, a.raw)
			}
		}
		if v := r.reply(".pause"); v.Kind != "told" {
			t.Fatalf("the pause is told %+v", v)
		}
		for id, body := range map[string][]byte{"level": level, "person": person, "grant": grant} {
			if a := r.twin(body); a.Decision != "deny" || !strings.Contains(a.Reason, "paused") {
				t.Errorf("%s, under a pause: %s", id, a.raw)
			}
		}
	})
}

// A call is held; the policy becomes stricter; then a person says yes.
func TestH118AYesDoesNotReleaseACallThatIsRestrictedByNow(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := sh("ls", unvouched("m"))
		c.id = "held"
		held := r.later(t.Context(), c.body())
		ref := r.waits().Ref
		r.reload(noExec)
		if v := r.approve(ref, 30); v.Kind != "counted" {
			t.Fatalf("the owner's yes is told %+v", v)
		}
		r.wantRestricted("a call that was held", <-held, "held")
		c.id = "retry"
		r.wantRestricted("a retry of it", r.twin(c.body()), "retry")
	})
}

// A yes that no call has taken yet does not outlive a restrict.
func TestH118ALateYesIsNotTakenOnceTheCallIsRestricted(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := sh("ls", unvouched("m"))
		r.mustAsk(c)
		if v := r.approve(r.waits().Ref, 0); v.Kind != "counted" {
			t.Fatalf("the owner's yes is told %+v", v)
		}
		r.reload(noExec)
		c.id = "late"
		r.wantRestricted("a late yes", r.twin(c.body()), "late")
	})
}

// Two gateways share a Redis, and one of them has the stricter policy.
func TestH119AStricterReplicaDeniesWhatAnotherAllowed(t *testing.T) {
	t.Parallel()
	r := newRedisRig(t, nil)
	other := r.replica()
	other.secret, other.token = other.credentials()
	other.reload(noExec)

	byLevel, byPerson := sh("date", ownerIn("clean")), sh("ls", unvouched("m"))
	byLevel.id, byPerson.id = "level", "person"
	level, person := byLevel.body(), byPerson.body()
	r.passBoth(level, person)
	other.wantRestricted("allowed by level", other.twin(level), "level")
	other.wantRestricted("allowed by a person", other.twin(person), "person")
	covered := byPerson
	covered.id = "covered"
	other.wantRestricted("a call under the grant", other.twin(covered.body()), "covered")

	// One that waits here is not released by sending it there, and what the other
	// denied stays denied.
	waits := sh("id", unvouched("n"))
	waits.id = "waits"
	body := waits.body()
	held := r.later(t.Context(), body)
	ref := r.waits().Ref
	other.wantRestricted("a call that waits elsewhere", other.twin(body), "waits")
	r.approve(ref, 0)
	<-held // whichever was first has decided
	other.wantRestricted("the same, once it was answered", other.twin(body), "waits")
}

// passBoth sends one call that its level allows, and one that a person does.
func (r *rig) passBoth(level, person []byte) {
	r.t.Helper()
	if a := r.twin(level); !a.allowed() {
		r.t.Fatalf("by level: %s", a.raw)
	}
	held := r.later(r.t.Context(), person)
	r.approve(r.waits().Ref, 30)
	if a := <-held; !a.allowed() {
		r.t.Fatalf("by person: %s", a.raw)
	}
}
