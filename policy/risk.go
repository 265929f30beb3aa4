package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Risk is what a person should see of a call before anything else, in a few words. Risks decide nothing.
type Risk string

// The risks, the worst first.
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

// Marks reports whether a call that bears the risk is marked by it: no lasting grant covers it, and a yes is asked for
// twice.
func (r Risk) Marks() bool {
	return r != NewRecipient && r != OutsideWorkspace && r != LeavesMachine
}

// Risks are those of a call, the worst first. The caller says whether it goes to someone whom the user never mentioned,
// see [Plan.Strangers].
func (pl *Plan) Risks(c *protocol.Call, view *View, stranger bool) (out []Risk) {
	line, r, s, writes := &command.Line{}, pl.rule, pl.policy.read(c), fileWriters[c.Tool]
	outside := writes && slices.ContainsFunc(s.files, func(name string) bool {
		return !relative(s.resolve(name)) && s.isOutside(name)
	})
	if pl.Line != nil {
		line = pl.Line
		s.in(line)
		outside = line.Effect != command.Look && s.outside(line) != ""
	}
	deletes := deleting.of(line) != nil || c.Tool == "apply_patch" && strings.Contains(s.all, "*** Delete File:")
	for _, one := range []struct {
		risk Risk
		so   bool
	}{
		{RunsDownloaded, line.Joined && line.Network},
		{DeletesFiles, deletes},
		{CantBeUndone, !deletes && (r.destructive || c.Hints.Destroys() || destructive.MatchString(s.top("action")))},
		{ChangesSettings, r.dangerous || pl.settings},
		{Publishes, pl.policy.asks.of(line) != nil},
		{HoldsSecret, r.secret || view.Bears || pl.Gives != "" || pl.Secret != "" || bringsSecret(view)},
		{NewRecipient, stranger},
		{OutsideWorkspace, outside},
		{LeavesMachine, r.known && (line.Network || r.leaves || pl.Leaves && !fileWriters[r.name])},
	} {
		if one.so {
			out = append(out, one.risk)
		}
	}
	return out
}

// Strangers are those whom a call reaches and the user never mentioned: recipients, as they stand in the call. It is
// nil where none of the user's messages is known.
func (pl *Plan) Strangers(c *protocol.Call, view *View) (out []string) {
	known := len(c.OwnerMessages()) > 0
	for _, o := range view.Origins {
		known = known || o.From == lineage.FromUser || o.From == lineage.FromPart
	}
	if view.Origins == nil || !known {
		return nil
	}
	for _, a := range read(c).args {
		top, from := topOf(a.path), view.Origins.At(a.path).From
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
