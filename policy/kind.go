package policy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Kind is what a command does, as far as a lasting yes is bound to it: a yes to `git log` is none to `git push`. The zero
// Kind is like no other: a lasting yes to such a command is for exactly that command.
type Kind struct {
	Programs string   // all that it runs, with their subcommands: "git log, head"
	With     []string // the other params of the call, which say where and as whom it runs: `workdir "/srv/app"`
	Does     []string // what else it does: `writes "out.txt"`. A call that does no more than these is of the same kind
}

// mostKind is how many characters of a kind are kept. A command that needs more is like no other.
const mostKind = 1000

// quietParams say how a command is described and how long to wait for it. They change nothing that it does.
var quietParams = words("description timeout timeoutms timeoutseconds yieldms title justification maxoutputtokens")

// Kind says of what kind the command of a call is. Only a command that stays on the machine, that we can read to the end, that runs
// nothing of the workspace and writes nowhere else is of a kind: every other could do more than its programs' names say.
func (pl *Plan) Kind(c *toolcall.Call) Kind {
	does := pl.parsed
	if does == nil || len(does.Programs) == 0 || does.Rewrites || slices.ContainsFunc(does.Programs, changes) || slices.ContainsFunc(does.Runs, runsMore) || !does.Contained() || does.Code || does.Stores || does.Environment || pl.Secret != "" || pl.Gives != "" ||
		slices.ContainsFunc(does.Reads, func(r command.Read) bool {
			return r.Unknown() || strings.ContainsAny(r.Path, "*?[{") || strings.Contains(r.Path, ".git/")
		}) {
		return Kind{}
	}
	var params map[string]jsontext.Value
	if json.Unmarshal(c.Params, &params) != nil {
		return Kind{}
	}
	var k Kind
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if key := strings.ToLower(separators.Replace(name)); !commandParams[key] && !argumentParams[key] && !quietParams[key] {
			value := params[name]
			if value.Compact() != nil { // it stays in one line
				return Kind{}
			}
			k.With = append(k.With, quoted(name)+" "+string(value))
		}
	}
	var programs []string
	for _, p := range does.Programs {
		programs = append(programs, p.String())
	}
	k.Programs = strings.Join(sorted(programs), ", ")
	k.Does = effectsBeyond(pl.inside, does)
	if len(k.Programs)+len(strings.Join(k.With, "\n"))+len(strings.Join(k.Does, "\n")) > mostKind {
		return Kind{}
	}
	return k
}

// changes reports whether a program changes something by the names that it is given, or runs another as someone else: what it does is not told by
// its own name.
func changes(p command.Program) bool {
	return changers[p.Name] || p.Name == "git" && !gitLooks[p.Sub]
}

// gitLooks are the verbs of git that show the workspace and change nothing.
var gitLooks = words("log status diff ls-files rev-parse")

// runsMore reports whether what a command runs of the workspace is more than the settings of git.
func runsMore(what string) bool { return !strings.HasPrefix(what, "git ") }

var changers = words("cp mv ln chmod chown install prettier ruff black sed tee rm rmdir sudo doas su runuser")

// effects are what a command does besides running its programs in the workspace.
func effectsBeyond(inside []string, does *command.Command) []string {
	var out []string
	for _, file := range does.Writes {
		out = append(out, "writes "+quoted(file))
	}
	for i := range does.Reads {
		if name := does.Reads[i].Path; !within(fixedPart(name), inside) {
			out = append(out, "reads "+quoted(name))
		}
	}
	for _, name := range does.Variables {
		out = append(out, "uses $"+name)
	}
	if does.Others != "" {
		out = append(out, "shows "+quoted(does.Others))
	}
	return sorted(out)
}

func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// quoted is a text in one line. A plain one stays as it is.
func quoted(s string) string {
	if q := strconv.QuoteToASCII(s); q != `"`+s+`"` || strings.ContainsAny(s, " ,") || s == "" {
		return q
	}
	return s
}
