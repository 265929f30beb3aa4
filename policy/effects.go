package policy

import (
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
	directoryParams = words("workdir cwd workingdirectory directory dir")
	// idleParams say how a command runs, or which one, and nothing that a machine runs.
	idleParams = words("description timeout timeoutms yieldms background runinbackground pty action sessionid session id offset limit node host ask security maxoutputtokens justification withescalatedpermissions elevated title")
)

// effects says what the commands of a call do.
func effects(c *toolcall.Call) command.Command {
	var said any
	if err := json.Unmarshal(c.Params, &said); err != nil {
		return command.Typed("", string(c.Params)) // such a call is refused anyway
	}
	members, ok := said.(map[string]any)
	if !ok {
		return typed("", said)
	}
	params := plainKeys(members)
	dir := directory(params)
	var all []command.Command
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if !idleParams[key] && !directoryParams[key] {
			all = append(all, effect(dir, key, params))
		}
	}
	return command.Join(all...)
}

// plainKeys has the params by their names in lower case, without the signs that set words apart. Of two that
// are then the same, the second is under a name that we don't know.
func plainKeys(members map[string]any) map[string]any {
	out := make(map[string]any, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		key := strings.ToLower(separators.Replace(name))
		for out[key] != nil {
			key += "!"
		}
		out[key] = members[name]
	}
	return out
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// effect reads one member of params.
func effect(dir, key string, params map[string]any) command.Command {
	value := params[key]
	text, isText := value.(string)
	list, isList := textsOf(value)
	switch {
	case commandParams[key] && isText:
		args, _ := textsOf(params["args"])
		more, _ := textsOf(params["arguments"])
		return command.With(dir, text, slices.Concat(args, more))
	case commandParams[key] && isList:
		return command.Argv(dir, list)
	case argumentParams[key] && isList && hasCommand(params):
		return command.Command{} // they were read with their command
	default:
		return typed(dir, value)
	}
}

func hasCommand(params map[string]any) bool {
	for key := range commandParams {
		if _, isText := params[key].(string); isText {
			return true
		}
	}
	return false
}

// typed reads every string of a value, which may or may not be a command.
func typed(dir string, value any) command.Command {
	var all []command.Command
	switch value := value.(type) {
	case string:
		return command.Typed(dir, value)
	case []any:
		if words, ok := textsOf(value); ok {
			return command.Argv(dir, words)
		}
		for _, v := range value {
			all = append(all, typed(dir, v))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, typed(dir, value[key]))
		}
		all = append(all, command.Command{Unknown: []string{"typed text"}})
	}
	return command.Join(all...)
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
func directory(params map[string]any) string {
	found := ""
	for key := range directoryParams {
		switch dir, isText := params[key].(string); {
		case params[key] == nil || isText && dir == "":
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
