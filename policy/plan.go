package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Plan is everything the policy says of a call before the level is known. Each field is set once, in [Policy.Plan].
type Plan struct {
	Modes     taint.Row         // the mode at each of the six levels
	Raise     taint.Level       // what the call brings in once allowed; System brings in nothing
	Source    string            // what Raise is called in an explanation: "web_fetch example.com"
	Initiator session.Initiator // who started the run
	Birth     taint.Level       // what a conversation never seen before is worth
	Final     bool              // the level alone decides, so one trip is enough
	Grantable bool              // a lasting grant may cover it: not dangerous, marked as a risk or secret-bearing
	// what it reads that holds secrets, and so the conversation from then on; empty: nothing
	Secret   string
	Gives    string         // a place where secrets are kept that it sends away; empty: none
	Leaves   bool           // what it is given leaves the machine
	Reach    Reach          // which other conversations it touches
	Line     *command.Line  // the command that it runs; nil: it runs none
	Plain    bool           // and its params say nothing else but where it starts, and how long it may take
	Effect   command.Effect // what that is known to do, by the rule for commands: see [Plan.knownEffect]
	Writes   Writing        // what it may write into files
	RunCap   int            // calls the run may make unasked; 0 is no cap. See [Plan.Loop]
	Attaches bool           // a line of its text has a file attached

	policy   *Policy
	set      *ruleset
	rule     *rule
	sink     bool    // this call acts outside
	stages   []stage // what of the call made its row another than its tool's
	gate     gate
	declared []*declared // the owner's policies that it falls under
	loop     loop
}

// stage is a rule that changed the row, and the row after it.
type stage struct {
	rule, text string // the text is a sentence, or the beginning of one that ends with what happens
	modes      taint.Row
}

// gate is a rule that sets the whole row, whatever the tool's own says.
type gate struct {
	rule string // empty where the tool's own row applies
	text string
}

// The ids of rules that more than one place names.
const (
	escalation   = "taint-escalation"
	secretsRule  = "secrets"
	settingsRule = "agent-settings" // what turns us off asks at every level
	agentRule    = "coding-agent"   // what asks at every level in a coding agent
	inputRule    = "open-input"     // a running program that obeys what is typed into it later
	longRule     = "long-command"
	blindRule    = "blind-send"
)

// Plan works out what holds for a call at every level.
func (p *Policy) Plan(c *toolcall.Call) Plan { return p.plan(c, false) }

// Notice is the plan of a call that runs without being asked about, as the runtime says: nothing stops it, and what it
// brings in and reaches still counts.
func (p *Policy) Notice(c *toolcall.Call) Plan { return p.plan(c, true) }

func (p *Policy) plan(c *toolcall.Call, notice bool) Plan {
	set, s := p.rulesFor(c.Agent()), read(c)
	r := set.find(c.Tool).believing(&c.Hints)
	g := p.ground(c, s)
	pl := Plan{
		policy: p, set: set, rule: r, Modes: r.table.modes, Raise: r.response, Leaves: r.leaves,
		sink: r.sink &&
			!r.safe, Initiator: session.Classify(c, p.unknown), Reach: r.reach(c, s), Effect: command.Anything,
	}
	pl.Birth = p.birth(pl.Initiator)
	pl.loop = loop{iteration: c.Iteration(), cap: set.cap}
	if polled := polls(c.Tool, s); polled {
		pl.sink, pl.Modes = false, r.looking
		pl.stages = append(
			pl.stages,
			stage{
				"visit",
				"This call of " + r.called() + " only looks at what a running command has printed",
				pl.Modes,
			},
		)
	} else if r.runs {
		line, plain := readCommand(s)
		pl.Line, pl.Plain = &line, plain
	}
	pl.sees(c, s, g)
	pl.keeps(c, s, g)
	if pl.Line != nil {
		pl.Effect = pl.knownEffect(c, g)
	}
	pl.Writes = pl.writing(s, g)
	pl.asks(c, s, g)
	pl.declare(p.declared, c)
	pl.RunCap = p.runCap(c, &pl)
	if rule, text := p.gateOf(c, &pl, s); notice && rule != "guard" && rule != "unreadable" {
		pl.close("notice", "The runtime does not ask about this call: it passes, and what it returns still counts.")
	} else if rule != "" {
		pl.close(rule, text)
	}
	pl.Final = pl.Reach.empty() && pl.Secret == "" && pl.Gives == ""
	return pl
}

// keeps says which secrets a call reads, which it gives away, and whether a lasting grant may cover it. Where it errs,
// the owner is asked once more.
func (pl *Plan) keeps(c *toolcall.Call, s *said, g ground) { //nolint:gocognit // one question after the other
	r := pl.rule
	var found string
	if pl.Line != nil {
		at := g.of(pl.Line)
		if found, pl.Leaves = at.secretIn(pl.Line), pl.Leaves || pl.Line.Network; s.long {
			found = keptSecrets
		}
	} else {
		found = g.secretGiven(r, c.Tool, s)
	}
	pl.Leaves = pl.Leaves || r.opens && found != "" || pl.Reach.Schedules || pl.Reach.BlindSend
	if c.Tool == "heartbeat_respond" &&
		slices.ContainsFunc(
			s.args,
			func(a argument) bool { return a.path == "notify" && a.value == "false" && !a.isText },
		) &&
		s.top("notify") == "" {
		pl.Leaves = false // it says that the owner is not to be told
	}
	if pl.Leaves {
		pl.Gives = found
	}
	switch {
	case r.secret:
		pl.Secret = keptSecrets
	case pl.Line != nil, r.opens, !pl.Leaves:
		pl.Secret = found
	}
	switch {
	case pl.Secret != "":
	case pl.Reach.BlindRead:
		pl.Secret = otherSessions
	case c.Tool == "nodes" && shownByDevice[s.top("action")] && !strings.HasPrefix(s.top("action"), "camera"),
		c.Tool == "terminal" && s.top("action") == "read":
		pl.Secret = ofDevice
	}
	for i := range s.args {
		pl.Attaches = pl.Attaches || attaches(s.args[i].value)
	}
	switch {
	case r.dangerous || r.destructive || r.secret || r.money || c.Hints.Destroys():
	case r.safe:
		pl.Grantable = true // it is never asked for
	case pl.Line != nil:
		pl.Grantable = found == "" && (!pl.Line.Joined || !pl.Line.Network) && deleting.of(pl.Line) == nil &&
			starting.of(pl.Line) == nil &&
			pl.policy.asks.of(pl.Line) == nil
	default:
		pl.Grantable = found == "" && !destructive(s.top("action")) && !pl.writesForLater(s)
	}
}

// asks adds what asks, or refuses, whatever the tool's row says.
func (pl *Plan) asks(c *toolcall.Call, s *said, g ground) {
	every := taint.Every(confirm)
	if s.long {
		pl.tighten(longRule, "This command is longer than 64 KB, so we don't know what it does.", every)
	}
	if pl.turnsOff(s, g) {
		pl.tighten(settingsRule, "This may change which hooks a coding agent runs, and so whether it asks.", every)
	}
	if codingAgents[c.Agent()] {
		if why := pl.policy.agentAsks(pl, s, g); why != "" {
			pl.tighten(agentRule, why, every)
		}
	}
	if pl.rule.open && pl.Line != nil && obeysInput(pl.Line) {
		pl.tighten(inputRule, "This program obeys what is typed into it later, which is not asked about.", every)
	}
	if pl.Reach.BlindSend {
		row := pl.Modes
		for l := pl.policy.from; l <= untrusted; l++ {
			row[l] = restrict
		}
		pl.tighten(
			blindRule,
			"The agent has read outside content, and this names no session to send to. We could not follow it there, "+
				"so it is blocked.",
			row,
		)
	}
}

// tighten makes the row at least as strict as another. Of such rules, lasting grants answer only taint-escalation.
func (pl *Plan) tighten(rule, text string, row taint.Row) {
	pl.Grantable = pl.Grantable && rule == escalation
	pl.Modes = pl.Modes.Stricter(row)
	pl.stages = append(pl.stages, stage{rule, text, pl.Modes})
}

// birth is what a conversation is worth at its first call. A spawned run whose parent was never seen, or a resumed one
// whose conversation was not, is like an unknown sender.
func (p *Policy) birth(s session.Initiator) taint.Level {
	if s.Spawned || s.Orphan || s.Resumed {
		return taint.Worse(s.Level, p.unknown)
	}
	return s.Level
}

// gateOf is the first rule that decides alone. The guard comes first: nothing that an owner can configure overrides it.
func (p *Policy) gateOf(c *toolcall.Call, pl *Plan, s *said) (rule, text string) {
	found := p.guard.find(s.all, pl.rule.commands, pl.Line)
	switch {
	case !s.readable:
		return "unreadable", "The params are not one JSON value, so nothing can be said of them."
	case found != "":
		return "guard", "The call names " + found + ": an agent must not reach what decides about it."
	case pl.rule.wrapper:
		return "wrapper", c.Tool + " only wraps another call, which is judged on its own."
	case !pl.rule.inScope:
		return "scope", "The tool is out of scope: it passes unasked, and what it returns still counts."
	}
	return "", ""
}

// close sets the whole row. A call that never passes reaches nothing; one that always does is not counted, and a
// wrapper brings nothing in itself.
func (pl *Plan) close(rule, text string) {
	pl.gate, pl.Leaves, pl.Gives, pl.declared = gate{rule, text}, false, "", nil
	switch rule {
	case "wrapper":
		pl.Modes, pl.Raise, pl.Source, pl.Secret, pl.RunCap, pl.Writes = taint.Every(
			allow,
		), system, "", "", 0, WritesNothing
	case "scope", "notice":
		pl.Modes, pl.RunCap = taint.Every(allow), 0
	default:
		pl.Modes, pl.Reach, pl.Grantable, pl.Secret = taint.Every(restrict), Reach{}, false, ""
	}
}

// Harmless reports whether a call passes even while the owner has paused the agent: it changes nothing and carries
// nothing out, or a pause could not stop it.
func (pl *Plan) Harmless() bool {
	r := pl.rule
	return pl.gate.rule == "notice" ||
		(r.wrapper || r.safe && !r.strictSink && !pl.Leaves) && pl.Modes == taint.Every(allow)
}

// InScope reports whether people may be asked about the call.
func (pl *Plan) InScope() bool { return pl.rule.inScope && pl.gate.rule != "notice" }

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

// ByArguments reports whether the call's arguments make what it brings in better or worse than what its tool returns
// otherwise. What a wrapper returns is another call's, and not told by its own.
func (pl *Plan) ByArguments() bool {
	return pl.rule != nil && pl.gate.rule == "" && pl.Raise != pl.rule.response
}

// Goes are the params that say where a call goes, for the person who is asked about it.
func (pl *Plan) Goes() []string {
	if pl.rule == nil {
		return nil
	}
	return pl.rule.goes
}

// Destinations are the same for a lasting grant; nil where none may cover the call.
func (pl *Plan) Destinations() []string {
	if !pl.Grantable {
		return nil
	}
	return pl.rule.goes
}

// Content are params in which calls like it may differ; all others count as destinations.
func (pl *Plan) Content() []string {
	if !pl.Grantable || pl.Attaches {
		return nil
	}
	return pl.rule.content
}

// Unsure reports whether no label says which of a call's arguments say where it goes, nor that there are none.
func (pl *Plan) Unsure() bool { return pl.rule == nil || pl.rule.unsure }

// Quotes reports whether the plan says anything in words of the call.
func (pl *Plan) Quotes() bool {
	return pl.Secret != "" || pl.Gives != "" || pl.Line != nil && pl.Line.Why != ""
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
