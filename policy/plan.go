package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// Plan is everything the policy says of a call before the level is known. Each field is set once, in [Policy.Plan].
type Plan struct {
	row
	Raise     taint.Level    // what the call brings in once allowed; System brings in nothing
	Source    string         // what Raise is called in an explanation: "web_fetch example.com"
	Initiator Initiator      // who started the run
	Birth     taint.Level    // what a conversation never seen before is worth
	Grantable bool           // a lasting grant may cover it: not dangerous, marked as a risk or secret-bearing
	Secret    string         // what it reads that holds secrets, as the conversation does then; empty: nothing
	Gives     string         // a place where secrets are kept that it sends away; empty: none
	Leaves    bool           // what it is given leaves the machine
	Reach     Reach          // which other conversations it touches
	Line      *command.Line  // the command that it runs; nil: it runs none
	Plain     bool           // and its params say nothing else but where it starts, and how long it may take
	Effect    command.Effect // what that is known to do, by the rule for commands: see [planner.knownEffect]
	Writes    Writing        // what it may write into files
	RunCap    int            // calls the run may make unasked; 0 is no cap

	policy    *Policy
	rule      *rule
	sink      bool        // this call acts outside
	risks     []Risk      // that it bears by itself
	gate      string      // the rule that sets the whole row, whatever the tool's own says; empty: none does
	named     named       // by its words
	declared  []*declared // the owner's policies that it falls under
	iteration *int        // of the model in its run; nil: the runtime does not count them
	cap       int         // of iterations, before any yes
}

// planner is a plan in the making, with the call that it is of.
type planner struct {
	Plan
	said
}

// Plan works out what holds for a call at every level.
func (p *Policy) Plan(c *protocol.Call) Plan { return p.plan(c, false) }

// Notice is the plan of a call that the runtime doesn't ask about: it passes, and what it brings in and reaches counts.
func (p *Policy) Notice(c *protocol.Call) Plan { return p.plan(c, true) }

func (p *Policy) plan(c *protocol.Call, notice bool) Plan {
	set := p.rulesFor(c.Agent())
	r := set.find(c.Tool)
	if r.reading != nil && c.Hints.ReadOnly != nil && *c.Hints.ReadOnly {
		r = r.reading
	}
	pl := planner{said: p.read(c), Plan: Plan{policy: p, rule: r, row: r.row, Raise: r.response, Leaves: r.leaves,
		sink: r.sink && !r.safe, iteration: c.Iteration(), cap: set.cap}}
	pl.Initiator, pl.Birth = p.Start(c)
	pl.Reach = pl.reach()
	switch {
	case pl.polls():
		pl.onlyLooks()
	case r.runs:
		pl.Line, pl.Plain = pl.readCommand()
	}
	if pl.Line != nil {
		pl.named = p.namedBy(pl.Line, &pl.ground)
	} else {
		pl.named = pl.namedFiles(r)
	}
	pl.bringsIn()
	pl.keeps()
	pl.Effect, pl.Writes = pl.knownEffect(), pl.writing()
	pl.findRisks()
	pl.asks()
	pl.declare()
	pl.RunCap = pl.runCap()
	pl.decideAlone(notice)
	return pl.Plan
}

// onlyLooks is for a call that only looks at what a running command has printed: nothing but the owner asks about it.
func (pl *planner) onlyLooks() {
	pl.sink = false
	text := "This call of " + pl.rule.called() + " only looks at what a running command has printed"
	for l, mode := range pl.Modes {
		if mode != allow && !pl.rule.asks[l] {
			pl.set(taint.Level(l), "visit", text, allow)
		}
	}
}

// keeps says which secrets a call reads, and which it gives away. Where it errs, the owner is asked once more.
func (pl *planner) keeps() {
	r, line, action, found := pl.rule, pl.Line, pl.top("action"), pl.named.secret
	if pl.long {
		found = keptSecrets
	}
	quiet := argument{"notify", "notify", "false", false, true} // the owner is not to be told
	pl.Leaves = (pl.Leaves || line != nil && line.Network || r.opens && found != "" || pl.Reach.Schedules != nil ||
		pl.Reach.BlindSend) && (pl.Tool != "heartbeat_respond" || !slices.Contains(pl.args, quiet))
	if pl.Leaves {
		pl.Gives = found
	}
	switch {
	case r.secret:
		pl.Secret = keptSecrets
	case found != "" && (line != nil || r.opens || !pl.Leaves):
		pl.Secret = found
	case pl.Reach.BlindRead:
		pl.Secret = otherSessions
	case pl.Tool == "nodes" && shownByDevice[action] && !strings.HasPrefix(action, "camera"),
		pl.Tool == "terminal" && action == "read":
		pl.Secret = ofDevice
	}
}

// asks adds what asks, or refuses, whatever the tool's row says.
func (pl *planner) asks() {
	every := taint.Every(confirm)
	if pl.long {
		pl.hold("long-command", "This command is longer than 64 KB, so we don't know what it does.", every)
	}
	if pl.turnsOff() {
		pl.risks = append(pl.risks, ChangesSettings)
		pl.hold("agent-settings", "This may change which hooks a coding agent runs, and so whether it asks.", every)
	}
	if why := pl.agentAsks(); why != "" {
		pl.hold("coding-agent", why, every)
	}
	if pl.rule.name == "exec_open" && pl.named.obeys {
		pl.risks = append(pl.risks, ChangesSettings)
		pl.hold("open-input", "This program obeys what is typed into it later, which is not asked about.", every)
	}
	if pl.Reach.BlindSend {
		text := "The agent has read outside content, and this names no session to send to that we could follow"
		pl.hold("blind-send", text, onwards(pl.policy.TaintedFrom, restrict))
	}
}

// onwards is a row that has a mode from a level on.
func onwards(from taint.Level, mode taint.Mode) (r taint.Row) {
	for l := from; l <= untrusted; l++ {
		r[l] = mode
	}
	return r
}

// hold tightens the row by a rule that no lasting grant answers.
func (pl *planner) hold(rule, text string, to taint.Row) {
	pl.Grantable = false
	pl.tighten(rule, text, to)
}

// decideAlone lets the first rule that decides alone set the whole row. The guard comes first: nothing that an owner
// can configure overrides it. A call that never passes reaches nothing; one that always does is not counted.
func (pl *planner) decideAlone(notice bool) {
	ours, mode := pl.policy.guard.find(&pl.said, pl.rule.commands, pl.Line), allow
	var text string
	switch {
	case !pl.readable:
		pl.gate, mode = "unreadable", restrict
		text = "The params are not one JSON value, so nothing can be said of them."
	case ours != "":
		pl.gate, mode = "guard", restrict
		text = "The call names " + ours + ": an agent must not reach what decides about it."
	case notice:
		pl.gate, text = "notice", "The runtime doesn't ask about this: it passes, and what it returns still counts."
	case pl.Reach.TooMany:
		pl.gate, mode = "too-many", restrict
		text = "This names more agents and sessions than we could follow."
	case pl.rule.wrapper:
		pl.gate, text = "wrapper", pl.Tool+" only wraps another call, which is judged on its own."
		pl.Raise, pl.Source, pl.Secret, pl.Writes = system, "", "", WritesNothing
	case !pl.rule.inScope:
		pl.gate, text = "scope", "The tool is out of scope: it passes unasked, and what it returns still counts."
	default:
		return
	}
	pl.Modes, pl.Leaves, pl.Gives, pl.declared = taint.Every(mode), false, "", nil
	why := []Step{{pl.gate, text, mode}}
	for l := range pl.why {
		pl.why[l] = why
	}
	if mode == allow {
		pl.RunCap = 0
	} else {
		pl.Reach, pl.Grantable, pl.Secret = Reach{}, false, ""
	}
}

// Harmless reports whether a call passes even while the owner has paused the agent: it changes nothing and carries
// nothing out, or a pause could not stop it.
func (pl *Plan) Harmless() bool {
	r := pl.rule
	return pl.gate == "notice" ||
		(r.wrapper || r.safe && !r.strictSink && !pl.Leaves) && pl.Modes == taint.Every(allow)
}

// InScope reports whether people may be asked about the call.
func (pl *Plan) InScope() bool { return pl.rule.inScope && pl.gate != "notice" }

// Class is what kind of tool it is, in one of a few words.
func (pl *Plan) Class() string {
	switch r := pl.rule; {
	case r == nil:
		return "none"
	case !r.known:
		return "unknown"
	case r.wrapper:
		return "wrapper"
	case r.dangerous:
		return "dangerous"
	case r.safe:
		return "safe"
	case r.sink:
		return "sink"
	}
	return "other"
}

// ByArguments reports whether the call's arguments make what it brings in better or worse than what its tool returns
// otherwise. What a wrapper returns is another call's.
func (pl *Plan) ByArguments() bool { return pl.gate == "" && pl.Raise != pl.rule.response }

// Goes are the params that say where a call goes, for the person who is asked about it, and for a lasting grant. Nil:
// unknown, or that is not what matters, since the call does more than its arguments say.
func (pl *Plan) Goes() []string {
	if r := pl.rule; !r.dangerous && !r.destructive && !r.secret && !r.runs {
		return r.destinations
	}
	return nil
}

// Content are params that only hold what is said, so that calls like it may differ there; all others are destinations.
func (pl *Plan) Content() []string {
	goes := pl.Goes()
	return slices.DeleteFunc(slices.Clone(lists["texts"]), func(name string) bool {
		return slices.Contains(goes, name)
	})
}

// Unsure reports whether no label says which of a call's arguments say where it goes, nor that there are none.
func (pl *Plan) Unsure() bool { return pl.rule.destinations == nil }

// Unclear reports whether we don't know what a call does, or it sends something away.
func (pl *Plan) Unclear() bool {
	return !pl.rule.known || pl.Leaves || pl.Line != nil && pl.Line.Effect == command.Anything
}

// Unquote takes words of the call out of what the plan says, where something in the call is hidden and the words may be
// that: a command's always, a place's unless it is in what is shown, which is in lower case.
func (pl *Plan) Unquote(shown string) {
	if pl.Line != nil && pl.Line.Why != "" {
		line := *pl.Line
		line.Why = "The command holds something that is hidden, so we don't say more of it."
		pl.Line = &line
	}
	for _, place := range []*string{&pl.Secret, &pl.Gives} {
		if *place != "" && !slices.Contains(plainSecrets, *place) && !strings.Contains(shown, strings.ToLower(*place)) {
			*place = keptSecrets
		}
	}
}
