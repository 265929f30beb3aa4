package policy

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// facts is what is known of a tool before the owner says anything.
type facts struct {
	name     string
	response taint.Level // what its answer brings into the conversation
	traits
	reason       string       // why, as the end of "It …"
	destinations []string     // the params that say where a call goes; nil: unknown
	trust        []*TrustRule // the owner's, by what a call names
	card         Card
	known        bool // somebody has said something of it: our table, or the owner
	annotated    bool // its owner trusts what its server says of it
}

// traits are what a tool does: tools.txt explains them.
type traits struct {
	safe, strictSink, sink, dangerous, destructive, secret, leaves bool
	commands, runs, opens, shows, wrapper                          bool
	writes, reads, saves                                           bool
}

// Card is how the first line of a card says what a call of a tool does.
type Card struct {
	Says  string   // before what its arguments say
	Slots []string // arguments, each by the names that it may have, the first that is there
	Alone string   // instead of both, where no argument is there
}

// CardOf is that of a tool in the table.
func CardOf(tool string) (Card, bool) {
	if f := shipped[tool]; f != nil {
		return f.card, true
	}
	return Card{}, false
}

// unknownTool is any tool that is not in the table: both source and sink.
var unknownTool = facts{response: untrusted, traits: traits{sink: true, commands: true, leaves: true},
	reason: "nothing is known of it"}

//go:embed tools.txt
var toolsText string

// shipped is the table of the runtimes' tools by name, and served that of well-known servers' tools. Reading it panics
// at an error: the text is ours.
var shipped, served = func() (shipped, served map[string]*facts) {
	shipped, served = map[string]*facts{}, map[string]*facts{}
	var row *facts
	add := func(table map[string]*facts, name string) {
		if table[name] != nil {
			panic("tools.txt: " + name + " is there twice")
		}
		one := *row
		one.name, table[name] = name, &one
	}
	for line := range strings.Lines(toolsText) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || line[0] == '#':
		case line[0] != ' ':
			if row = readRow(line); !strings.HasPrefix(row.name, serverPrefix) {
				add(shipped, row.name)
			}
		case words[0] == "to:":
			f := shipped[row.name]
			f.destinations = append(f.destinations, words[1:]...)
		default:
			for _, tool := range words {
				add(served, row.name+tool)
			}
		}
	}
	return shipped, served
}()

// readRow reads a row. That of a server's tools has the beginning of their names, and no card.
func readRow(line string) *facts {
	cells := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
	if server, ok := strings.CutPrefix(cells[0], "mcp "); ok {
		cells = append(cells, "-")
		cells[0] = serverPrefix + server + "__"
	}
	f := &facts{name: cells[0], reason: cells[3], card: readCard(cells[4]), known: true}
	if f.reason == "-" {
		f.reason = strings.ToLower(f.card.Alone)
	}
	for word := range strings.FieldsSeq(cells[2]) {
		f.set(word)
	}
	if err := f.response.UnmarshalText([]byte(cells[1])); err != nil {
		panic("tools.txt: " + line + err.Error())
	}
	return f
}

// set switches on what a word means.
func (t *traits) set(word string) {
	meant, known := map[string][]*bool{
		"-": nil, "safe": {&t.safe}, "strict": {&t.strictSink}, "acts": {&t.sink}, "dangerous": {&t.sink, &t.dangerous},
		"destroys": {&t.sink, &t.destructive}, "secret": {&t.secret}, "leaves": {&t.leaves},
		"commands": {&t.commands}, "runs": {&t.sink, &t.commands, &t.runs},
		"opens": {&t.opens}, "shows": {&t.opens, &t.shows}, "wraps": {&t.wrapper},
		"writes": {&t.writes}, "reads": {&t.reads}, "saves": {&t.saves},
	}[word]
	if !known {
		panic("tools.txt: there is no word " + word)
	}
	for _, trait := range meant {
		*trait = true
	}
}

// readCard reads `Says {argument} {argument} / Alone`.
func readCard(cell string) (c Card) {
	cell, c.Alone, _ = strings.Cut(cell, " / ")
	says, slots, found := strings.Cut(cell, " {")
	if c.Alone == "" {
		c.Alone = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(says, ":"), " for"), " to")
	}
	if !found {
		return c
	}
	c.Says = says
	for slot := range strings.SplitSeq(strings.TrimSuffix(slots, "}"), "} {") {
		names := strings.Fields(slot)
		for n, name := range names {
			names[n] = cmp.Or(manyNames[name], name)
		}
		c.Slots = append(c.Slots, strings.Join(names, " "))
	}
	return c
}

// manyNames are what arguments are called that many tools share.
var manyNames = map[string]string{
	"path": "path file_path filePath file",
	"whom": "target to recipient recipients targets channel channelId chatId userId user groupId conversationRef " +
		"sessionKey",
}

// serverPrefix begins the names of tools of servers, mcp__server__tool, and of other requests to them, which are judged
// as tools that we don't know: mcp__server__resources/read.
const serverPrefix = "mcp__"

// serverOf is the name under which a server's tools are known as a whole; "" for a tool of none.
func serverOf(tool string) string {
	rest, ok := strings.CutPrefix(tool, serverPrefix)
	if server, _, found := strings.Cut(rest, "__"); ok && found && server != "" {
		return serverPrefix + server + "__"
	}
	return ""
}

// IsShipped reports whether the table has a row for a tool of a runtime.
func IsShipped(name string) bool { return shipped[protocol.Canonical(name)] != nil }

// called is what the tool is called in a sentence, which the name of a tool that only the caller names is not part of.
func (f *facts) called() string {
	if f.name == "" || strings.HasSuffix(f.name, "__") { // nothing, or all tools of a server
		return "this tool"
	}
	return f.name
}

//go:embed lists.txt
var listsText string

// lists are the short lists of lists.txt, in small letters: docs/policy.md shows them as they are.
var lists = func() map[string][]string {
	out, name := map[string][]string{}, ""
	for line := range strings.Lines(listsText) {
		line = strings.ToLower(strings.TrimSpace(line))
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
		default:
			for word := range strings.SplitSeq(strings.TrimSuffix(line, ","), ",") {
				out[name] = append(out[name], strings.TrimSpace(word))
			}
		}
	}
	return out
}()

// What the lists say: lists.txt explains them.
var (
	commandParams     = setOf("command params")
	directoryParams   = setOf("directory params")
	besideCommand     = setOfWords(strings.Join(slices.Concat(lists["directory params"], lists["idle params"]), "\n"))
	fileParams        = setOf("file params")
	addressParams     = setOf("address params")
	topDirectories    = setOf("top directories")
	settingsPaths     = setOf("settings")
	settingsInCommand = patternsOf("settings in commands")
	runsLater         = setOf("runs later")
	othersWrote       = patternsOf("others wrote")
	secretNames       = patternsOf("secret names")
	noSecretNames     = patternsOf("no secret names")
	filesByName       = setOfWords(strings.Join(slices.Concat(lists["secret names"], lists["others wrote"]), "\n"))
	noSecrets         = lists["no secrets below"]
	notes             = lists["notes"]
	secretPaths       = slices.DeleteFunc(slices.Clone(lists["secret names"]), relative)
)

// setOf is a list, to be looked up.
func setOf(name string) map[string]bool { return setOfWords(strings.Join(lists[name], "\n")) }

// setOfWords are words, to be looked up.
func setOfWords(text string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		out[word] = true
	}
	return out
}

// patterns are the names of a list and its patterns of names, to be matched fast; its paths are none.
type patterns []pattern

// pattern is a name or a pattern, with a bit for each character that a name must have to fit.
type pattern struct {
	text  string
	needs uint64
}

func patternsOf(list string) (all patterns) {
	for _, word := range lists[list] {
		if relative(word) {
			literal, _, _ := strings.Cut(word, "[") // what is in brackets need not be in a name
			all = append(all, pattern{word, characters(literal) &^ characters("*?")})
		}
	}
	return all
}

// characters has a bit for each character of a name: for a letter of any case, and another one for a dot or a digit.
func characters(name string) (bits uint64) {
	for i := range len(name) {
		bits |= 1 << (name[i]&0x1f | name[i]&0x40>>1)
	}
	return bits
}

// mayBeIn reports whether a text has all characters of a name that could match.
func (all patterns) mayBeIn(text string) bool {
	has := characters(text)
	return slices.ContainsFunc(all, func(p pattern) bool { return p.needs&^has == 0 })
}

func (all patterns) match(name string) bool {
	has := characters(name)
	return slices.ContainsFunc(all, func(p pattern) bool { return p.needs&^has == 0 && isLike(name, p.text) })
}

func isLike(name, pattern string) bool {
	found, _ := path.Match(pattern, name)
	return found
}
