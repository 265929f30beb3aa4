package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// told are the rules by how much they tell a person who decides, the most first: that of a cap says what a yes does. A
// rule that is not here tells nothing that another doesn't.
var told = strings.Fields(`run-cap iterations stranger secrets agent-settings coding-agent open-input long-command
	lethal-trifecta policy dangerous injection-rogue-action command level blind-send override agent taintPolicy
	taint-escalation closed`)

// Reasons say in plain words why a person is asked, the worst first, two at most. The caller passes whom the user never
// mentioned, as far as that may be shown: see [Plan.Strangers].
func (pl *Plan) Reasons(v *Verdict, view *View, strangers []string) (out []string) {
	steps := slices.Clone(v.Why)
	if n := len(strangers) - 1; n >= 0 {
		text := "You never mentioned " + strangers[0]
		if n > 0 {
			text += " and " + strconv.Itoa(n) + " more"
		}
		steps = append(steps, Step{"stranger", text + ".", confirm})
	}
	rank := func(s Step) int { return slices.Index(told, s.Rule) }
	slices.SortStableFunc(steps, func(a, b Step) int { return rank(a) - rank(b) })
	pattern := slices.ContainsFunc(steps, func(s Step) bool { return s.Rule == rogueAction })
	what, clause := pl.came(v.Level, view)
	for _, s := range steps {
		level := s.Rule == "level"
		switch {
		case rank(s) < 0, level && (pattern || v.Level < external), !level && s.Mode == allow:
			continue
		case what == "", view.Lost, s.Text == unknownText:
		case level:
			s.Text = sentence(what) + "."
		case s.Rule == rogueAction && clause:
			s.Text = sentence(what) + ", and the agent now wants to act."
		case s.Rule == rogueAction:
			s.Text = sentence(what) + " and now wants to act."
		}
		if len(out) < 2 && !slices.Contains(out, s.Text) {
			out = append(out, s.Text)
		}
	}
	return out
}

// came says what made the level what it is: "at 14:02 the agent fetched example.com". It may be a clause about who
// started the run, and is empty where that is not known.
func (pl *Plan) came(level taint.Level, view *View) (what string, clause bool) {
	label, when := "", ""
	switch {
	case view.Cause.What != "" && view.Cause.Level == level:
		label, when = view.Cause.What, view.Cause.when(view.Now)
	case pl.Initiator.Level == level || pl.Birth == level:
		label = pl.Initiator.Why
	}
	tool, place, _ := strings.Cut(label, " ")
	switch {
	case label == "":
		return "", false
	case label == pl.Initiator.Why || slices.Contains(strings.Fields("the The someone this"), tool): // who started it
		return when + label, true
	case tool == "a":
		return when + label + " came in", true
	}
	f, did := cmp.Or(shipped[tool], &unknownTool), "used "+label
	switch {
	case f.runs && place != "":
		did = "ran a command that read " + place
	case f.runs && level >= external:
		did = "ran a command that read outside content"
	case f.runs:
		did = "ran a command"
	case tool == "web_search" || tool == "x_search":
		did = "searched the web"
	case place != "" && (tool == "web_fetch" || tool == "browser"):
		did = "fetched " + place
	case place != "" && f.reads:
		did = "read " + place
	}
	return when + "the agent " + did, false
}

// when begins a sentence with the time, as the owner's clock shows it.
func (c *Cause) when(now time.Time) string {
	at := c.At.Local()
	switch {
	case c.At.IsZero():
		return ""
	case at.Format(time.DateOnly) == now.Local().Format(time.DateOnly):
		return at.Format("at 15:04 ")
	}
	return at.Format("on 2 January at 15:04 ")
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Risk is what a person should see of a call before anything else, in a few words. Risks decide nothing.
type Risk string

// The risks.
const (
	RunsDownloaded   Risk = "joins the network with another command"
	DeletesFiles     Risk = "deletes files"
	CantBeUndone     Risk = "can't be undone"
	ChangesSettings  Risk = "changes settings or starts an agent"
	Publishes        Risk = "publishes or administers"
	HoldsSecret      Risk = "holds a secret"
	NewRecipient     Risk = "new recipient"
	OutsideWorkspace Risk = "outside the workspace"
	LeavesMachine    Risk = "leaves the machine"
)

var worstFirst = []Risk{RunsDownloaded, DeletesFiles, CantBeUndone, ChangesSettings, Publishes, HoldsSecret,
	NewRecipient, OutsideWorkspace, LeavesMachine}

// Marks reports whether the risk marks a call: no lasting grant covers it, and a yes is asked for twice.
func (r Risk) Marks() bool {
	return r != NewRecipient && r != OutsideWorkspace && r != LeavesMachine
}

// findRisks finds those that a call bears by itself. No lasting grant covers one that is marked, nor what runs or is
// obeyed later, nor what says more than it seems to.
func (pl *planner) findRisks() {
	line, r, writes := cmp.Or(pl.Line, &command.Line{}), pl.rule, pl.rule.writes
	deletes := pl.named.deletes || pl.Tool == "apply_patch" && strings.Contains(pl.all, "*** Delete File:")
	for _, one := range []struct {
		risk Risk
		so   bool
	}{
		{RunsDownloaded, line.Joined && line.Network},
		{DeletesFiles, deletes},
		{CantBeUndone, !deletes && (r.destructive || pl.Hints.Destroys() || destructive.MatchString(pl.top("action")))},
		{ChangesSettings, r.dangerous},
		{Publishes, pl.named.asked != ""},
		{HoldsSecret, r.secret || pl.Gives != "" || pl.Secret != ""},
		{OutsideWorkspace, pl.named.away && (writes || pl.Line != nil)},
		{LeavesMachine, r.known && (line.Network || r.leaves || pl.Leaves && !writes)},
	} {
		if one.so {
			pl.risks = append(pl.risks, one.risk)
		}
	}
	pl.Grantable = !slices.ContainsFunc(pl.risks, Risk.Marks) && !pl.named.later &&
		!slices.ContainsFunc(pl.args, saysMore)
}

// Risks are those of a call, the worst first. A stranger is whom the user never mentioned: see [Plan.Strangers].
func (pl *Plan) Risks(view *View, stranger bool) (out []Risk) {
	for _, r := range worstFirst {
		if slices.Contains(pl.risks, r) || r == NewRecipient && stranger ||
			r == HoldsSecret && (view.Bears || bringsSecret(view)) {
			out = append(out, r)
		}
	}
	return out
}

// Strangers are recipients, as they are in the call, whom no message of the user mentions; nil: we know of no message.
func (pl *Plan) Strangers(c *protocol.Call, view *View) (out []string) {
	known := len(c.OwnerMessages()) > 0
	for _, o := range view.Origins {
		known = known || o.From == lineage.FromUser || o.From == lineage.FromPart
	}
	if view.Origins == nil || !known {
		return nil
	}
	for _, a := range pl.policy.read(c).args {
		top, from := a.path[:strings.IndexAny(a.path+".", ".[")], view.Origins.At(a.path).From
		isAddress := !strings.ContainsAny(a.value, " \n\t") &&
			(strings.Contains(a.value, "@") || strings.HasPrefix(a.value, "+"))
		if recipientParams[strings.ToLower(top)] && (isAddress || slices.Contains(pl.Goes(), top)) &&
			(from == lineage.FromNowhere || from == lineage.FromTool) && !slices.Contains(out, a.value) {
			out = append(out, a.value)
		}
	}
	return out
}

// recipientParams say whom a call reaches, in lower case.
var recipientParams = setOfWords("to cc bcc target targets recipient recipients user userid chatid participant " +
	"participants attendee attendees guests")
