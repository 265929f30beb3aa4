package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Risk is what a person should see of a call before anything else, in a few words. Risks decide nothing.
type Risk string

// The risks, the worst first.
const (
	RunsDownloaded   Risk = "runs downloaded code"
	DeletesFiles     Risk = "deletes files"
	CantBeUndone     Risk = "can't be undone"
	HoldsSecret      Risk = "holds a secret"
	NewRecipient     Risk = "new recipient"
	OutsideWorkspace Risk = "outside the workspace"
	LeavesMachine    Risk = "leaves the machine"
)

// Risks are those of a call, the worst first. The caller says whether it goes to someone whom the user never mentioned, see [Plan.Strangers].
func (pl *Plan) Risks(c *toolcall.Call, view *session.View, stranger bool) (out []Risk) {
	deletes := pl.parsed != nil && pl.parsed.Deletes || c.Tool == "apply_patch" && deletesByPatch(c)
	for _, r := range []struct {
		risk Risk
		so   bool
	}{
		{RunsDownloaded, pl.parsed != nil && pl.parsed.Fetched},
		{DeletesFiles, deletes},
		{CantBeUndone, !deletes && cantBeUndone(pl.parsed, pl.rule, c)},
		{HoldsSecret, view.Bears || pl.Gives != "" || pl.Secret != "" && pl.Secret != ofCode && pl.Secret != ofShell || bringsSecret(view)},
		{NewRecipient, stranger},
		{OutsideWorkspace, writesOutside(pl.inside, pl.parsed, c)},
		{LeavesMachine, pl.leavesMachine()},
	} {
		if r.so {
			out = append(out, r.risk)
		}
	}
	return out
}

func cantBeUndone(parsed *command.Command, rule *rule, c *toolcall.Call) bool {
	for at, value := range c.Strings {
		if at == "action" && destructive(value) {
			return true
		}
	}
	return parsed != nil && parsed.Destroys || rule != nil && rule.destructive || c.Hints.Destroys()
}

// deletesByPatch reports whether a patch deletes a file.
func deletesByPatch(c *toolcall.Call) bool {
	for _, value := range c.Strings {
		for line := range strings.Lines(value) {
			if strings.HasPrefix(line, "*** Delete File:") {
				return true
			}
		}
	}
	return false
}

// writesOutside reports whether a call writes a file that is not below the workspace nor in the owner's directories.
func writesOutside(inside []string, parsed *command.Command, c *toolcall.Call) bool {
	var files []string
	switch {
	case parsed != nil:
		files = parsed.Writes
	case fileWriters[c.Tool]:
		files = filesOf(c.Tool, c.Strings)
	}
	return slices.ContainsFunc(files, func(name string) bool {
		clean := path.Clean(name)
		return !strings.HasPrefix(clean, "/tmp/") && !strings.HasPrefix(clean, "/dev/") && !within(name, inside)
	})
}

// leavesMachine reports whether we know that something leaves the machine. A command or a tool that we don't know may do that too.
func (pl *Plan) leavesMachine() bool {
	switch {
	case pl.rule == nil || !pl.rule.known:
		return false
	case pl.parsed != nil:
		return pl.parsed.Network() || pl.rule.leaves
	}
	return pl.Leaves && !fileWriters[pl.rule.name]
}

// recipientParams say whom a call reaches, in lower case.
var recipientParams = words("to cc bcc target targets recipient recipients user userid chatid participant participants attendee attendees guests")

// Strangers are those whom a call reaches and the user never mentioned: recipients, as they stand in the call. It is nil where none of the
// user's messages is known.
func (pl *Plan) Strangers(c *toolcall.Call, view *session.View) (out []string) {
	if view.Origins == nil || !knowsUser(c, view) {
		return nil
	}
	for at, value := range c.Strings {
		if at == value || !recipientParams[strings.ToLower(topOf(at))] || !pl.isRecipient(at, value) {
			continue
		}
		if from := view.Origins.At(at).From; (from == session.FromNowhere || from == session.FromTool) && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// isRecipient reports whether an argument says whom a call reaches: the tool's labels say so, or it is an address.
func (pl *Plan) isRecipient(at, value string) bool {
	if slices.Contains(pl.Goes(), topOf(at)) {
		return true
	}
	return !strings.ContainsAny(value, " \n\t") && (strings.Contains(value, "@") || strings.HasPrefix(value, "+"))
}

// knowsUser reports whether any of the user's messages is known.
func knowsUser(c *toolcall.Call, view *session.View) bool {
	if len(c.OwnerMessages()) > 0 {
		return true
	}
	for _, o := range view.Origins {
		if o.From == session.FromUser || o.From == session.FromPart {
			return true
		}
	}
	return false
}

// Unmentioned are hosts that a call names to connect to, and that none of the user's messages in this run names. It is nil where there is no such message.
func (pl *Plan) Unmentioned(c *toolcall.Call) (out []string) {
	messages := c.OwnerMessages()
	if len(messages) == 0 {
		return nil
	}
	var hosts []string
	if pl.parsed != nil {
		for _, h := range pl.parsed.Hosts {
			hosts = append(hosts, h.Name)
		}
	} else if pl.leavesMachine() {
		for at, value := range c.Strings {
			if at != value && strings.Contains(value, "://") && !strings.ContainsAny(value, " \n") {
				hosts = append(hosts, hostOf([]byte(value)))
			}
		}
	}
	for _, host := range hosts {
		if host != "" && !slices.Contains(out, host) && !slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(strings.ToLower(m), domainOf(host)) }) {
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
