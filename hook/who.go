package hook

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// who is on whose behalf the agent acts, and in which conversation.
type who struct {
	key      string // of the conversation
	parent   string // the conversation that started it; "" for none
	attended bool   // a person sits at the agent's terminal and is asked there
	owner    bool   // what starts a run is the owner's
}

// attendedModes are those in which the agent puts a question of ours to its user. That includes auto, in which Claude Code
// starts by default: a model answers there in the user's place, but not what a hook asks. In any other the agent, or a
// model, answers for the user.
var attendedModes = map[string]bool{"default": true, "plan": true, "acceptEdits": true, "auto": true}

// identify finds out who it is. An agent that was started below another one is its child, whatever the environment says.
func (r *run) identify() error {
	r.who.key = r.key(r.in.SessionID)
	line, err := lineOf()
	if err != nil { // without it any agent could be another one's child
		r.subagent()
		return nil //nolint:nilerr // it goes on, as the child of one that is not known
	}
	own := line.agent()
	parent, err := r.notes.parent(line.above(own))
	if err != nil {
		return err
	}
	r.who.parent = parent
	if err := r.notes.register(own, r.who.key); err != nil {
		return err
	}
	atTerminal := parent == "" && own.terminal && !line.orphaned(own) && r.seesUser(own)
	r.who.attended = atTerminal && (attendedModes[r.in.Mode] || r.in.Mode == "" && !r.agent.asks)
	r.who.owner = parent == "" && (r.who.attended || r.Owner)
	r.subagent()
	return nil
}

// seesUser reports whether the agent itself says, or its terminal shows, that a person uses it.
func (r *run) seesUser(own process) bool {
	if r.Agent == claudeCode {
		return r.Env("CLAUDE_CODE_SESSION_ATTENDED") == "1"
	}
	return isRaw(own.pid)
}

// key is that of a session.
func (r *run) key(session string) string { return "agent:" + r.Agent + ":" + session }

// subagent makes a sub-agent a conversation of its own that shares the level of the one that started it.
func (r *run) subagent() {
	main := r.who.key
	switch {
	case r.in.AgentID != "":
		r.who.key = main + ":subagent:" + r.in.AgentID
	case r.in.ParentID != "":
		main = r.key(r.in.ParentID)
	default:
		return
	}
	if r.who.parent == "" {
		r.who.parent = main
	}
	r.who.owner = false // the words are another agent's; its calls count as its parent's
}

// line is the line of processes above the hook, the nearest first.
type line []process

// process is one of them.
type process struct {
	pid      int
	parent   int
	start    string // when it was started, as the system counts
	name     string
	terminal bool // it has one
}

// id names a process for good: its number may be used again.
func (p process) id() string { return strconv.Itoa(p.pid) + "-" + p.start }

const longestLine = 64

var errNoLine = errors.New("the parent processes are not known")

// lineOf looks up the line of processes.
func lineOf() (line, error) {
	var out line
	for pid := os.Getppid(); pid > 0; {
		p, err := look(pid)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
		if pid = p.parent; pid > 0 && len(out) == longestLine {
			return nil, errNoLine // an agent may be above what we have looked at
		}
	}
	if len(out) == 0 {
		return nil, errNoLine
	}
	return out, nil
}

// between are the programs by which an agent runs its hook.
var between = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ash": true, "ksh": true, "busybox": true, "verifier": true, "verifier-hook": true}

// agent is the process that runs the hook.
func (l line) agent() process {
	for _, p := range l {
		if !between[strings.TrimPrefix(p.name, "-")] {
			return p
		}
	}
	return l[len(l)-1]
}

// above are the processes above one.
func (l line) above(p process) line {
	for i := range l {
		if l[i].pid == p.pid {
			return l[i+1:]
		}
	}
	return nil
}

// orphaned reports whether what started the process is gone: a shell can be told to cut a line of processes.
func (l line) orphaned(p process) bool {
	above := l.above(p)
	return len(above) > 0 && (above[0].name == "systemd" || above[0].name == "init" || above[0].name == "launchd")
}
