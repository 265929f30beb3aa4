package policy

import (
	"cmp"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Plan is everything the policy says of a call before the level is known.
type Plan struct {
	Modes        taint.Row         // the mode at each of the six levels
	Raise        taint.Level       // what the call brings in once allowed; System brings in nothing
	Source       string            // what Raise is called in an explanation: "web_fetch example.com"
	Initiator    session.Initiator // who started the run
	Birth        taint.Level       // what a conversation never seen before is worth
	Final        bool              // the level alone decides, so one trip is enough
	InScope      bool
	Grantable    bool     // a lasting grant may cover it: not dangerous, destructive or secret-bearing
	Secret       string   // what it reads that holds secrets, and so the conversation from then on; empty: nothing
	Gives        string   // a place where secrets are kept that it sends away; empty: none
	Leaves       bool     // what it is given leaves the machine
	Destinations []string // params that say where it goes, for a consent to calls like it; nil: there is none
	Content      []string // params in which calls like it may differ; all others count as destinations
	Shell        bool     // it runs a command: a lasting yes is bound to what that does, see [Plan.Kind]
	Harmless     bool     // passes even while the owner has paused the agent: it changes nothing and carries nothing out
	RunCap       int      // calls the run may make unasked; 0 is no cap. See [Plan.Loop]
	Calm         bool     // its run counts it apart, see [planner.isCalm]
	Reach        Reach
	Anything     bool // it runs a command that may reach the network or run anything; see [Plan.Brings]
	Workspace    bool // for nothing but that it runs what is in the workspace: see [session.View.Workspace]
	Writes       Writing
	TestsAll     bool // it only builds and tests, and runs all modules of the workspace
	Attaches     bool // a line of its text has a file attached
	OnlyReads    bool // it is a command in a run of the owner's that only reads in the workspace, and runs nothing from there
	Foreign      bool // it puts into files what may be others' work, though nothing of that comes into the conversation

	ruling
	strict    bool
	told      bool // a trust rule says what it brings in
	onlyLooks bool // this command of a coding agent only looks at files, see [judgement.allowLook]
	typed     bool // all that it sends was typed by the user
	gated     bool
	builds    bool             // for nothing but that it builds, tests or commits what is in the workspace
	does      string           // what its command can do, for people; "" where that is harmless
	parsed    *command.Command // what it runs; nil where it runs no command
	only      onlyCommand
	inside    []string // the owner's directories, and the workspace

	declared []*declared // the owner's policies that it falls under
	loop     loop
}

// planner works out a plan, see [Policy.plan].
type planner struct{ *Plan }

// gate is a rule that sets the whole row, whatever the tool's own says.
type gate struct {
	rule  string // empty where the tool's own row applies
	text  string
	blind bool // a send that taint can't follow: restricted where tainted
}

// Class is what kind of tool it is, in one of a few words.
func (pl *Plan) Class() string {
	r := pl.rule
	switch {
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

// ByArguments reports whether the call's arguments make what it brings in better or
// worse than what its tool returns otherwise. What a wrapper returns is another
// call's, and not told by its own.
func (pl *Plan) ByArguments() bool {
	return pl.rule != nil && pl.gate.rule == "" && pl.Raise != pl.rule.response
}

// Plan works out what holds for a call at every level.
func (p *Policy) Plan(c *toolcall.Call) (plan Plan) {
	p.plan(planner{&plan}, c, false)
	return plan
}

// Notice is the plan of a call that runs without being asked about, as the
// runtime says: nothing stops it, and what it brings in and reaches still counts.
func (p *Policy) Notice(c *toolcall.Call) (plan Plan) {
	p.plan(planner{&plan}, c, true)
	plan.Harmless = true // a pause could not stop it either
	return plan
}

func (p *Policy) plan(plan planner, c *toolcall.Call, notice bool) {
	set := p.rulesFor(c.Agent())
	r := set.find(c.Tool).believing(&c.Hints)
	t := read(c)
	does, only := r.effects(c, t)
	if r.open && (does.Opaque != "" || does.Prompts) {
		r = set.find(openShell).insteadOf(r)
	}
	*plan.Plan = Plan{
		Modes: r.table.modes, Raise: r.response, Reach: r.reach(c, t), InScope: r.inScope,
		RunCap: p.runCap(c), strict: p.strict, Leaves: r.leaves, gated: p.gated, ruling: ruling{from: p.from, sink: r.sink && !r.safe, set: set, rule: r},
	}
	plan.inside = p.insideOf(c)
	if r.runs {
		plan.shell(&does)
	}
	plan.only = only
	plan.Writes = r.writing(&does, c, only)
	plan.Foreign = plan.Writes == WritesUnseen && (does.Foreign || does.CarriesIn() && !staysInside(&does, plan.inside))
	plan.apply(t)
	if r.opens {
		p.open(plan.Plan, t)
	}
	plan.visit(c)
	plan.actingArguments(c, t)
	plan.Leaves = plan.Leaves && !tellsNoOne(c) || plan.Reach.Schedules || plan.Reach.BlindSend
	p.weigh(plan.Plan, c, t, does.Destroys)
	p.findSecrets(plan.Plan, c, t, &does)
	plan.hinted(&c.Hints)
	plan.Initiator = session.Classify(c, p.unknown)
	plan.Birth = p.birth(plan.Initiator)
	plan.build(c, &does)
	plan.onlyLooks = plan.isLook(c, &does)
	plan.raise(c, t, &does, p.outside(&does))
	plan.OnlyReads = plan.onlyReads(c, &does)
	plan.outwards = p.outward(plan.Plan, c, t, &does)
	plan.tightenOutward()
	if plan.Reach.BlindSend {
		plan.blindSend(p.from)
	}
	plan.declare(p.declared, c)
	plan.loop = loop{iteration: c.Iteration(), cap: set.cap}
	switch rule, text := p.gate(c, r, t, &does); {
	case notice:
		plan.close("notice", "The runtime does not ask about this call: it passes, and what it returns still counts.")
	case rule != "":
		plan.close(rule, text)
	}
	plan.countApart(c, &does, p.from)
	mayTaint := plan.Anything && plan.Raise < untrusted && plan.Modes[external] == allow // see [Plan.Brings]
	plan.Final = plan.Reach.empty() && plan.Secret == "" && plan.Gives == "" && !mayTaint
	plan.Harmless = (r.wrapper || r.safe && !r.strictSink && !plan.Leaves) && plan.Modes == taint.Every(allow)
}

// build notes whether a command only builds, tests or commits what is in the workspace.
func (pl planner) build(c *toolcall.Call, does *command.Command) {
	knows := does.Builds() || codingAgents[c.Agent()] && does.Inspects()
	pl.builds = pl.Workspace && pl.rule.startsHere() && knows && !does.Climbs && isGitAtHome(does, pl.inside) && !runsOthers(does) && pl.only.ok && isOwners(c, &pl.Initiator)
	pl.TestsAll = pl.builds && c.Context.Workspace != "" && (pl.only.dir == "" || pl.only.dir == c.Context.Workspace) && command.TestsAll(pl.only.text)
}

// isLook reports whether a coding agent only looks at the workspace, as it does with its tools that read.
func (pl planner) isLook(c *toolcall.Call, does *command.Command) bool {
	return pl.rule.startsHere() && codingAgents[c.Agent()] && does.Harmless() && !does.Wider && pl.Writes == WritesNothing && looksInside(does, pl.inside) && pl.only.ok &&
		(isOwners(c, &pl.Initiator) || isSubagents(c, &pl.Initiator))
}

// onlyReads reports whether a command in a run of the owner's only reads in the workspace, and runs nothing from there.
func (pl planner) onlyReads(c *toolcall.Call, does *command.Command) bool {
	return pl.rule.startsHere() && pl.Writes == WritesNothing && looksInside(does, pl.inside) && isGitAtHome(does, pl.inside) &&
		pl.only.ok && isOwners(c, &pl.Initiator) && does.OnlyShows()
}

// startsHere reports whether the tool starts a command on this machine. On another machine, or typed into a program that runs already, the same words may do anything.
func (r *rule) startsHere() bool { return r.runs && !r.leaves && !r.looks }

// shell notes what a command does.
func (pl planner) shell(does *command.Command) {
	pl.Shell, pl.parsed = true, does
	pl.Anything, pl.does = !does.Harmless(), does.Says()
	pl.Workspace = pl.Anything && does.Contained() && !pl.Leaves && staysInside(does, pl.inside)
	pl.Leaves = pl.Leaves || pl.Anything
}

// Brings is what the call brings in once it is allowed in a conversation. Where outside content may have written a
// command that could reach the network, its output may be anyone's.
func (pl *Plan) Brings(v *session.View) taint.Level {
	if pl.Anything && v.Level >= external && !pl.runsSeen(v) {
		return untrusted
	}
	return pl.Raise
}

// birth is what a conversation is worth at its first call. A spawned run whose
// parent was never seen, or a resumed one whose conversation was not, is like an
// unknown sender.
func (p *Policy) birth(s session.Initiator) taint.Level {
	if s.Spawned || s.Orphan || s.Resumed {
		return taint.Worse(s.Level, p.unknown)
	}
	return s.Level
}

// raise works out what the call brings in. What the owner says of a tool's
// answers does not cover a command that fetches or reads what is not the owner's, nor a reading of sessions
// that can't be told: taint must not be washed out that way.
func (pl planner) raise(c *toolcall.Call, t *text, does *command.Command, outside string) {
	pl.readsOthers(t, does)
	if pl.rule.runs && does.Fetches() {
		pl.Raise = untrusted
	}
	if pl.Reach.BlindRead || pl.rule.runs && outside != "" {
		pl.Raise = taint.Worse(pl.Raise, external)
	}
	if pl.Raise > system {
		pl.Source = label(c.Tool, t, cmp.Or(does.Fetcher, outside))
	}
}

// blindSend refuses a send where the level of the sender could not follow it.
func (pl planner) blindSend(from taint.Level) {
	pl.gate.blind = true
	for l := from; l <= untrusted; l++ {
		pl.Modes[l] = restrict
	}
}

// gate is the first rule that decides alone. The guard comes first: nothing
// that an owner can configure overrides it.
func (p *Policy) gate(c *toolcall.Call, r *rule, t *text, does *command.Command) (rule, text string) {
	found := cmp.Or(p.guard.find(string(t.raw), r.commands, does), insideOf(string(t.values), r.commands))
	switch {
	case !t.readable:
		return "unreadable", "The params are not one JSON value, so nothing can be said of them."
	case found != "":
		return "guard", "The call names " + found + ": an agent must not reach what decides about it."
	case r.wrapper:
		return "wrapper", c.Tool + " only wraps another call, which is judged on its own."
	case !r.inScope:
		return "scope", "The tool is out of scope: it passes unasked, and what it returns still counts."
	default:
		return "", ""
	}
}

// close sets the whole row. A call that never passes reaches nothing; one that
// always does is not counted, and a wrapper brings nothing in itself.
func (pl planner) close(rule, text string) {
	pl.gate, pl.Leaves, pl.Gives = gate{rule: rule, text: text}, false, ""
	switch rule {
	case "wrapper":
		pl.Modes, pl.Raise, pl.Source, pl.Secret, pl.RunCap = taint.Every(allow), system, "", "", 0
		pl.Writes = WritesNothing
	case "scope", "notice":
		pl.Modes, pl.RunCap = taint.Every(allow), 0
	default:
		pl.Modes, pl.Reach, pl.Grantable, pl.Secret = taint.Every(restrict), Reach{}, false, ""
	}
	pl.declared = nil
}
