package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// searchedBy is what the agents' own search, or their tool that reads many files, shows that holds secrets, or may: as for the command that does the same. "" for any other call.
func (s *secretIndex) searchedBy(c *toolcall.Call, inside []string) string {
	var members map[string]any
	if c.Tool != "grep" && c.Tool != "read" || json.Unmarshal(c.Params, &members) != nil { // else such a call is refused anyway
		return ""
	}
	argv := manyRead(members)
	if c.Tool == "grep" {
		argv = searchLine(c.Agent(), members, inside)
	}
	if len(argv) == 0 {
		return ""
	}
	does := command.Argv("", argv)
	secret, _ := s.readBy(&does)
	return secret
}

// manyRead is the command that reads the files of patterns. A file by its name is found by [secretIndex.findNamed].
func manyRead(members map[string]any) (argv []string) {
	for _, p := range plainKeys(members) {
		for _, text := range textsIn(p.value) {
			switch at := strings.LastIndex(text, ".{"); {
			case strings.ContainsAny(text, "{(") && at >= 0 && !strings.ContainsAny(text[:at], "{(") && allPlain(text[at+2:]): // *.{ts,tsx}
			case strings.ContainsAny(text, "{("):
				argv = append(argv, "**/*") // what it finds is not worked out
			case isPattern(text):
				argv = append(argv, text)
			}
		}
	}
	if argv != nil {
		argv = append([]string{"cat", "--"}, argv...)
	}
	return argv
}

// allPlain reports whether the endings before a closing brace are all those of source code or text.
func allPlain(endings string) bool {
	endings, closed := strings.CutSuffix(endings, "}")
	return closed && !slices.ContainsFunc(strings.Split(endings, ","), func(e string) bool { return !command.EndsPlainly("x." + e) })
}

// mostOptions is how many patterns and other options of a search are looked at: with more it counts as one that shows every line.
const mostOptions = 64

// searchLine is the command that does the same as a call of grep. Like rg, it looks at the files that a project keeps, and at hidden ones among them: so with a pattern
// that finds most lines, or outside the workspace, it counts as grep -r.
func searchLine(agent string, members map[string]any, inside []string) []string {
	var options, places []string
	narrows, known := narrowing[agent]
	if !known {
		narrows = narrowing["openclaw"]
	}
	all := false
	for _, p := range plainKeys(members) {
		for _, text := range textsIn(p.value) {
			switch option := searchOptions[p.key]; {
			case p.key == "pattern":
				all = all || command.FindsMost(text)
				options = append(options, "--regexp="+text)
			case narrowed[p.key] && !narrows[p.key]: // the agent does not take it, so that it narrows nothing
			case option == "--glob=":
				for glob := range strings.FieldsSeq(text) {
					options = append(options, option+glob)
				}
			case option != "":
				options = append(options, option+text)
			case searchPlaces[p.key]:
				places = append(places, text)
			case p.key == "outputmode" && (text == "files_with_matches" || text == "count"), p.key == "namesonly" && text == "true":
				options = append(options, "-l")
			case p.key == "noignore" && text == "true":
				all = true
			}
		}
	}
	if len(options) > mostOptions {
		options, all = []string{"--regexp=."}, true
	}
	return searchCommand(options, places, inside, all)
}

// searchCommand is a search with options in places.
func searchCommand(options, places, inside []string, all bool) []string {
	program := []string{"rg"}
	all = all && (len(places) == 0 || slices.ContainsFunc(places, func(place string) bool { return !command.EndsPlainly(place) })) // else they are files
	if all || slices.ContainsFunc(places, func(place string) bool { return !within(place, inside) }) {
		program = []string{"grep", "-r"}
		for i, o := range options {
			options[i] = strings.Replace(o, "--glob=", "--include=", 1)
		}
	}
	if len(places) == 0 {
		places = []string{"."}
	}
	return slices.Concat(program, options, []string{"--"}, places)
}

var (
	// searchOptions are the params of the agents' searches, without signs and in lower case, as options of rg.
	searchOptions = map[string]string{
		"glob": "--glob=", "include": "--glob=", "includepattern": "--glob=", "type": "--glob=*.", "a": "--after-context=", "after": "--after-context=", "b": "--before-context=", "before": "--before-context=",
		"c": "--context=", "context": "--context=",
	}
	// narrowed are the params that show less, and narrowing those that each agent's search has.
	narrowed  = words("glob include includepattern type outputmode namesonly")
	narrowing = map[string]map[string]bool{
		"claude-code": words("glob type outputmode"), "opencode": words("include"), "gemini": words("include includepattern namesonly"), "openclaw": words("glob"),
	}
	searchPlaces = words("path paths dirpath dir directory")
)

// textsIn are the strings and other plain values of a member.
func textsIn(value any) (out []string) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			out = append(out, textsIn(v)...)
		}
	case map[string]any, nil:
	default:
		out = append(out, fmt.Sprint(value))
	}
	return out
}
