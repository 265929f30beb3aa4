package lineage

import (
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Origin is what rules and people see of an argument; call is the number of
// the call that has it.
func (a Argument) Origin(call int) session.Origin {
	switch a.From {
	case User:
		return session.Origin{From: session.FromUser, Level: taint.Owner}
	case Tool:
		ago := max(0, call-a.Source.Call)
		return session.Origin{From: session.FromTool, Level: a.Source.Level, Tool: a.Source.Tool, Place: a.Source.Origin, Ago: int64(ago), Secret: a.Source.Secret}
	case Partly, Nowhere, Nothing:
	}
	return session.Origin{From: session.From(a.From), Level: taint.Untrusted}
}

// Origins are those of all arguments of a call. Two that have the same path, as
// {"a.b": …} and {"a": {"b": …}} do, count as the worse of them.
func Origins(arguments []Argument, call int) session.Origins {
	out := make(session.Origins, len(arguments))
	for _, a := range arguments {
		o := a.Origin(call)
		if old, ok := out[a.Path]; !ok || o.Compare(old) < 0 {
			out[a.Path] = o
		}
	}
	return out
}
