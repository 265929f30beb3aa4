package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// The params of tools that run commands, in lower case and without signs. One that is in none of these lists
// may hold anything.
var (
	commandParams   = words("command cmd commandline script argv")
	argumentParams  = words("args arguments")
	directoryParams = words("workdir cwd workingdirectory directory dir dirpath")
	// idleParams say how a command runs, or which one, and nothing that a machine runs.
	idleParams = words("description timeout timeoutms yieldms background runinbackground pty action sessionid session id offset limit node host ask security maxoutputtokens justification withescalatedpermissions elevated title")
)

// effects says what the commands of a call do, where its tool runs any.
func (r *rule) effects(c *toolcall.Call, t *text) (does command.Command, only onlyCommand) {
	if !r.commands {
		return does, only
	}
	t.strip()
	if looksAtCommands(c) {
		return does, only
	}
	return effects(c)
}

// effects says what the commands of a call do. The params are decoded once, for [onlyCommand] too.
func effects(c *toolcall.Call) (does command.Command, only onlyCommand) {
	var said any
	if err := json.Unmarshal(c.Params, &said); err != nil {
		return command.Typed("", string(c.Params)), only // such a call is refused anyway
	}
	members, ok := said.(map[string]any)
	if !ok {
		typed(&does, "", said)
		return does, only
	}
	params := plainKeys(members)
	dir := directory(params)
	for i := range params {
		if p := &params[i]; !idleParams[p.key] && !directoryParams[p.key] {
			effect(&does, dir, p, params)
		}
	}
	return does, onlyCommandOf(c, members)
}

// commandsGiven says what the commands do that a call gives by name, and leaves out all else. A script may be in any language.
func commandsGiven(c *toolcall.Call) (does command.Command) {
	members := map[string]any{}
	if json.Unmarshal(c.Params, &members) != nil {
		return does // such a call is refused anyway
	}
	params := plainKeys(members)
	dir := directory(params)
	for i := range params {
		if p := &params[i]; commandParams[p.key] && p.key != "script" {
			effect(&does, dir, p, params)
		}
	}
	return does
}

// member is one of the params.
type member struct {
	key   string // its name in lower case, without the signs that set words apart
	name  string
	value any
}

// plainKeys are the params that say something, sorted. Of two that have the same name, the second has one that we don't know.
func plainKeys(members map[string]any) []member {
	out := make([]member, 0, len(members))
	for name, value := range members {
		if value != nil {
			out = append(out, member{strings.ToLower(separators.Replace(name)), name, value})
		}
	}
	slices.SortFunc(out, func(a, b member) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.name, b.name))
	})
	for i := 1; i < len(out); i++ {
		if out[i].key == strings.TrimSuffix(out[i-1].key, "!") {
			out[i].key += "!"
		}
	}
	return out
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// effect reads one member of params.
func effect(does *command.Command, dir string, p *member, params []member) {
	text, isText := p.value.(string)
	list, isList := textsOf(p.value)
	switch {
	case commandParams[p.key] && isText:
		var args []string
		for i := range params {
			if argumentParams[params[i].key] {
				more, _ := textsOf(params[i].value)
				args = append(args, more...)
			}
		}
		does.Add(command.With(dir, text, args))
	case commandParams[p.key] && isList:
		does.Add(command.Argv(dir, list))
	case argumentParams[p.key] && isList && slices.ContainsFunc(params, isCommand): // they were read with their command
	default:
		typed(does, dir, p.value)
	}
}

func isCommand(m member) bool { _, isText := m.value.(string); return isText && commandParams[m.key] }

// typed reads every string of a value, which may or may not be a command.
func typed(does *command.Command, dir string, value any) {
	switch value := value.(type) {
	case string:
		does.Add(command.Typed(dir, value))
	case []any:
		if words, ok := textsOf(value); ok {
			does.Add(command.Argv(dir, words))
			return
		}
		for _, v := range value {
			typed(does, dir, v)
		}
	case map[string]any:
		keys := slices.AppendSeq(make([]string, 0, len(value)), maps.Keys(value))
		slices.Sort(keys)
		for _, key := range keys {
			typed(does, dir, value[key])
		}
		does.Add(command.Command{Unknown: []string{"typed text"}})
	}
}

// textsOf are the strings of a list that has nothing else.
func textsOf(value any) ([]string, bool) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	out := make([]string, len(list))
	for i, v := range list {
		if out[i], ok = v.(string); !ok {
			return nil, false
		}
	}
	return out, true
}

// directory is where a call's commands start, or "". Where programs could differ on which it is, it is the root: nothing there is ours.
func directory(params []member) string {
	found := ""
	for i := range params {
		if !directoryParams[params[i].key] {
			continue
		}
		switch dir, isText := params[i].value.(string); {
		case isText && dir == "":
		case !isText || found != "" || strings.Contains(dir, "://") || strings.TrimFunc(dir, isBlank) != dir:
			return "/"
		default:
			found = dir
		}
	}
	return found
}

// isBlank is for what some programs take away around a name and others don't.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }
