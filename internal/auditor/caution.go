package auditor

import "github.com/openclaw-verifier/verifier/taint"

// Caution says which tools' results make the auditor look at what follows.
type Caution struct {
	defaults bool
	tools    map[string]bool // the owner's word, by canonical name
	from     taint.Level     // see [Caution.From]
}

// shippedCaution is the table. A tool that is not in it needs caution if it brings in what anyone could have written.
var shippedCaution = map[string]bool{
	"web_fetch": true, "email": true, "hooks": true, "webhook": true, "browser": true, "web_search": false,
}

// localTools are off since they return what is on the machine, or nothing. A call of them that brings in what others
// wrote (a command that fetches, a message that is read) is no such call, and what switches them off does not mean it.
var localTools = map[string]bool{"read": true, "write": true, "exec": true, "nodes": true, "message": true}

// NewCaution makes a table of the shipped one, if defaults, and the owner's own words by canonical name.
func NewCaution(defaults bool, tools map[string]bool) *Caution {
	c := &Caution{defaults: defaults, tools: tools, from: taint.External}
	for _, on := range tools {
		if on {
			c.from = taint.Local
		}
	}
	return c
}

// On reports whether the result of a tool, which brings in content of that level, needs caution. The owner's word comes
// first. A tool's own word can only switch it on, and what the owner switched off stays off.
func (c *Caution) On(tool string, declared bool, brings taint.Level) bool {
	foreign := localTools[tool] && brings >= taint.External
	if on, said := c.tools[tool]; said && (on || !foreign) {
		return on
	}
	on, shipped := shippedCaution[tool]
	switch {
	case declared:
		return true
	case !c.defaults:
		return false
	case shipped:
		return on
	case localTools[tool]:
		return foreign
	}
	return brings >= taint.Untrusted
}

// From is the level from which on a result that needs caution may be in a conversation. Tools that the shipped table
// switches on bring in what people other than the owner wrote; those that the owner, or they themselves, switch on may
// be local.
func (c *Caution) From(declared bool) taint.Level {
	if declared {
		return taint.Local
	}
	return c.from
}
