package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Risk is what a person should see of a call before anything else, in a few words. Risks decide nothing.
type Risk string

// The risks, the worst first.
const (
	RunsDownloaded   Risk = "joins the network with another command"
	DeletesFiles     Risk = "deletes files"
	CantBeUndone     Risk = "can't be undone"
	Pays             Risk = "pays or orders"
	ChangesSettings  Risk = "changes settings or starts an agent"
	Publishes        Risk = "publishes or administers"
	HoldsSecret      Risk = "holds a secret"
	NewRecipient     Risk = "new recipient"
	OutsideWorkspace Risk = "outside the workspace"
	LeavesMachine    Risk = "leaves the machine"
)

// Risks are those of a call, the worst first. The caller says whether it goes to someone whom the user never mentioned,
// see [Plan.Strangers].
func (pl *Plan) Risks(c *toolcall.Call, view *session.View, stranger bool) (out []Risk) {
	line, r := pl.Line, pl.rule
	if line == nil {
		line = &command.Line{}
	}
	s := read(c)
	g := pl.policy.ground(c, s)
	at := g.of(line)
	files := []string(nil)
	if fileWriters[c.Tool] {
		files = s.files(c.Tool)
	}
	deletes := deleting.of(line) != nil ||
		c.Tool == "apply_patch" &&
			slices.ContainsFunc(s.args, func(a argument) bool { return strings.Contains(a.value, "*** Delete File:") })
	for _, one := range []struct {
		risk Risk
		so   bool
	}{
		{RunsDownloaded, line.Joined && line.Network},
		{DeletesFiles, deletes},
		{CantBeUndone, !deletes && (r.destructive || c.Hints.Destroys() || destructive(s.top("action")))},
		{Pays, r.money},
		{ChangesSettings, r.dangerous || slices.ContainsFunc(pl.stages,
			func(s stage) bool { return s.rule == settingsRule || s.rule == inputRule })},
		{Publishes, pl.policy.asks.of(line) != nil},
		{HoldsSecret, r.secret || view.Bears || pl.Gives != "" || pl.Secret != "" || bringsSecret(view)},
		{NewRecipient, stranger},
		{OutsideWorkspace, line.Effect != command.Look && at.outside(line) != "" || slices.ContainsFunc(files,
			func(name string) bool {
				return !relative(g.resolve(name)) && g.isOutside(name)
			})},
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
func (pl *Plan) Strangers(c *toolcall.Call, view *session.View) (out []string) {
	known := len(c.OwnerMessages()) > 0
	for _, o := range view.Origins {
		known = known || o.From == session.FromUser || o.From == session.FromPart
	}
	if view.Origins == nil || !known {
		return nil
	}
	s := read(c)
	for i := range s.args {
		a := &s.args[i]
		isAddress := !strings.ContainsAny(a.value, " \n\t") &&
			(strings.Contains(a.value, "@") || strings.HasPrefix(a.value, "+"))
		if !recipientParams[strings.ToLower(topOf(a.path))] ||
			!isAddress && !slices.Contains(pl.Goes(), topOf(a.path)) {
			continue
		}
		if from := view.Origins.At(a.path).From; (from == session.FromNowhere || from == session.FromTool) &&
			!slices.Contains(out, a.value) {
			out = append(out, a.value)
		}
	}
	return out
}

// recipientParams say whom a call reaches, in lower case.
var recipientParams = setOfWords(
	"to cc bcc target targets recipient recipients user userid chatid participant participants attendee attendees " +
		"guests",
)

// Unmentioned are hosts that a call names to connect to, and that none of the user's messages in this run names. It is
// nil where there is no such message.
func (pl *Plan) Unmentioned(c *toolcall.Call) (out []string) {
	messages := c.OwnerMessages()
	if len(messages) == 0 || !pl.Leaves {
		return nil
	}
	var addresses []string
	if pl.Line != nil {
		addresses = pl.Line.Words
	} else {
		for _, a := range read(c).args {
			addresses = append(addresses, a.value)
		}
	}
	for _, address := range addresses {
		if !strings.Contains(address, "://") || strings.ContainsAny(address, " \n") {
			continue
		}
		host := hostOf(address)
		if host != "" && !slices.Contains(out, host) &&
			!slices.ContainsFunc(
				messages,
				func(m string) bool { return strings.Contains(strings.ToLower(m), domainOf(host)) },
			) {
			out = append(out, host)
		}
	}
	return out
}

// domainOf is what a person would write of a host: its last two labels, or an address of digits as it is.
func domainOf(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	if n := len(labels); n > 2 && strings.Trim(labels[n-1], "0123456789") != "" {
		labels = labels[n-2:]
	}
	return strings.Join(labels, ".")
}

// Unclear reports whether we don't know what a call does, or it sends something away.
func (pl *Plan) Unclear() bool {
	return !pl.rule.known || pl.Leaves || pl.Line != nil && pl.Line.Effect == command.Anything
}
