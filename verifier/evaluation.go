package verifier

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// evaluation is one call on its way through a decision: what was found out so far.
type evaluation struct {
	call     *toolcall.Call
	started  time.Time
	decided  time.Time
	settings Settings
	digest   string        // of the call, once it was needed
	identity string        // see sum
	shown    redact.Result // the params as they may be shown, once that was needed
	bears    bool          // it holds something that looks like a secret, and would send it away
	looked   bool          // where the arguments came from was looked up
	unread   bool          // not all of them could be

	conv    session.Conversation // whose state counts: the root's, for a spawned session
	convID  [16]byte             // its ID; both are set by in
	session string               // the session id in that conversation
	child   bool
	spreads bool // it counts under one session id, and what it brings in counts for all

	rules   *policy.Policy
	planner func(*policy.Policy, *toolcall.Call) policy.Plan // how a policy plans the call
	plan    policy.Plan
	initial taint.Level // what the start of the run brings in
	brings  taint.Level // what the call itself brings in, once it is allowed
	view    session.View
	viewed  time.Time // when it was, by this process' clock
	verdict policy.Verdict
	pauses  session.PauseView // the pauses that it was decided under

	auditor *intent.Auditor // nil: there is none
	opinion *intent.Opinion // what the auditor said, once it was asked

	by      string         // what consented
	person  bool           // a person said yes to this very call
	visible bool           // the card that was put to people shows all of it
	alike   *lineage.Alike // what calls like it have in common, once that was needed
	claim   *session.Claim
	grant   *session.Grant
	ruling  approval.Ruling
	replay  bool
	closed  bool // it was this call that settled its request
	held    bool // people were asked, and waited for
	asks    edited

	claims int // how often another call had taken its yes
}

// again reports whether the same request has had its decision elsewhere. One that
// is sent twice at the same moment has it from whichever of the two settles.
func (t *evaluation) again() bool { return t.replay || t.view.Replayed && !t.closed }

// in says whose state counts.
func (t *evaluation) in(c session.Conversation) { t.conv, t.convID = c, c.ID() }

// move makes the call count in another conversation's state. There it counts
// without a session id: it sees the worst and is seen by all.
func (t *evaluation) move(root session.Conversation) {
	if root != t.conv {
		t.in(root)
		t.session, t.child = "", true
	}
}

// see takes over what the store says of the conversation. The clock only matters to
// a call that is still to be decided.
func (t *evaluation) see(v session.View) {
	if t.view = v; v.Entry != session.Passed {
		t.viewed = time.Now()
	}
}

// now is the time by the store's clock.
func (t *evaluation) now() time.Time { return t.view.Now.Add(time.Since(t.viewed)) }

// refresh takes over what a fresh view says of the conversation, and keeps what
// was found at admission. The level of the run's starter still counts, also where the
// conversation's level was lowered meanwhile.
func (t *evaluation) refresh(v session.View) {
	v.Grants, v.Waiting, v.Replayed, v.Origins = t.view.Grants, t.view.Waiting, t.view.Replayed, t.view.Origins
	v.Secrets, v.Capped = t.view.Secrets, t.view.Capped
	if v.Secret != "" {
		v.Secrets = session.Holds
	}
	v.Level, v.After = taint.Worse(v.Level, t.initial), taint.Worse(v.After, t.initial)
	t.grant = nil // if it is still one, it is found again
	t.see(v)
}

// callDigest is the call's digest, as the record has it.
func (t *evaluation) callDigest() string {
	if t.digest == "" {
		t.digest = t.call.Digest().String()
	}
	return t.digest
}

// sum is what a question, a yes and a grant for exactly this call are bound to: the call's
// digest, and the directory that the card shows, where the agent names one. It costs more
// than the rest of an allow by level, which does without.
func (t *evaluation) sum() string {
	if t.identity == "" {
		t.identity = t.callDigest()
		if dir := t.call.Context.Directory; dir != "" {
			bound := sha256.Sum256([]byte("in a directory\n" + t.identity + "\n" + dir))
			t.identity = hex.EncodeToString(bound[:])
		}
	}
	return t.identity
}

// window is what a grant is bound to besides the agent: the session id, and for
// a spawned session its own key too, since it shares the root's conversation.
func (t *evaluation) window() string {
	if t.child {
		return t.call.Context.SessionKey + "\n" + t.call.Context.SessionID
	}
	return t.call.Context.SessionID
}

// grants are the kinds of lasting grant that could cover the call.
func (t *evaluation) grants() []session.Grant {
	if t.call.Context.SessionKey == "" {
		return nil
	}
	g := session.Grant{Conversation: t.conv, Tool: t.call.Tool, Agent: t.call.Agent(), Session: t.window()}
	exactly := g
	exactly.Like = session.Exactly(t.sum())
	all := []session.Grant{exactly}
	if t.everyCommand() {
		all = append(all, g)
	}
	if like := t.like().String(); like != "" {
		g.Like = like
		all = append(all, g)
	}
	if t.call.Context.RunID != "" {
		for _, turn := range all {
			turn.Run = t.call.Context.RunID
			all = append(all, turn)
		}
	}
	return all
}

// everyCommand reports whether a yes for a while to any call of the tool may cover this one: no command that reaches
// the network, and none that says more than where it starts.
func (t *evaluation) everyCommand() bool {
	return t.plan.Line == nil || t.plan.Grantable && t.plan.Plain && !t.plan.Line.Network
}

// like is what calls like this one have in common; nothing where no label says
// which of its arguments say where it goes.
func (t *evaluation) like() *lineage.Alike {
	if t.alike == nil {
		params, _ := t.call.Values() // none that can't be read: a call without them is like no other
		t.alike = lineage.AlikeOf(params, t.plan.Destinations(), t.plan.Content())
	}
	return t.alike
}

// wasEdited reports whether a person changed the call's arguments.
func (t *evaluation) wasEdited() bool { return t.asks.sum != "" }

// asked keeps what the desk said, for the record and the answer.
func (t *evaluation) asked(r approval.Ruling) {
	t.ruling = r
	if r.Card != "" {
		t.view.Waiting = r.Card
	}
}
