package policy

import (
	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
)

// Writing is what a call writes into files.
type Writing uint8

// What a call may write.
const (
	WritesNothing Writing = iota
	WritesShown           // files, and the call says what stands in them
	WritesUnseen          // files of which it doesn't, or we can't tell
)

// writing says what a call of a tool writes. A tool that acts and is not in our table may write anything.
func (r *rule) writing(does *command.Command) Writing {
	writes, shown := false, true
	switch {
	case fileWriters[r.name]:
		return WritesShown
	case r.runs:
		writes, shown = does.Writing()
	case r.sink && !isShipped[r.name]:
		return WritesUnseen
	}
	switch {
	case !writes:
		return WritesNothing
	case shown:
		return WritesShown
	}
	return WritesUnseen
}

var isShipped = func() map[string]bool {
	out := make(map[string]bool, len(shipped))
	for i := range shipped {
		out[shipped[i].name] = true
	}
	return out
}()

// runsSeen reports whether a command only runs what is in the workspace, and a person has seen what was written there
// since outside content came in.
func (pl *Plan) runsSeen(v *session.View) bool { return pl.Workspace && v.Workspace == session.AllSeen }

// command says what the call's command can do in a conversation; "" where that is harmless.
func (pl *Plan) command(v *session.View) string {
	switch {
	case pl.runsSeen(v):
		return ""
	case pl.Workspace && pl.does != "" && v.Workspace != "":
		return pl.does + " Files were written there that you have not seen. Look at them, then `.reset-trust " + v.Workspace + "` lets builds run unasked again."
	}
	return pl.does
}
