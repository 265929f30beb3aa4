package policy

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// What a secret is called that has no name of its own.
const (
	keptSecrets   = "a store of secrets"
	otherSessions = "other conversations"
	homeFiles     = "files of your home directory"
	hiddenFiles   = "hidden files"
	ofCommands    = "the environment of your commands"
	ofSettings    = "settings that may hold secrets"
	ofCode        = "files that the code names while it runs"
	ofShell       = "files whose names the shell fills in"
	ofSearch      = "lines that set passwords or keys"
	anyFiles      = "files of any name"
	ofDevice      = "the screen or the notifications of a device"
	ofTerminal    = "what a terminal shows"
)

// plainSecrets quote nothing of a call.
var plainSecrets = []string{keptSecrets, otherSessions, homeFiles, hiddenFiles, ofCommands, ofSettings, ofCode, ofShell, ofSearch, anyFiles, ofDevice, ofTerminal}

// secretIndex knows where secrets are kept, and which paths and patterns lead there.
type secretIndex struct {
	places  *matcher
	samples [][]string // the same in parts, for patterns that may find one
}

func newSecretIndex() secretIndex {
	places := make([][]byte, len(secretPlaces))
	for i, p := range secretPlaces {
		places[i] = folded([]byte(p))
	}
	return secretIndex{newMatcher(places), samplesOf(places)}
}

// findSecrets says which secrets a call reads, so that the conversation holds them
// from then on, and which it gives away. A text that only mentions a place reads
// nothing: what counts is a path. In a command that we can't read to the end any word counts.
func (p *Policy) findSecrets(pl *Plan, c *toolcall.Call, t *text, does *command.Command) {
	r, sure := pl.rule, true
	p.secrets.findNamed(pl, c, t, does)
	if pl.Secret == "" && r.runs {
		pl.Secret, sure = p.secrets.readBy(does)
		sure = sure && (r.leaves || !does.Contained())
	}
	if pl.Secret == "" {
		pl.Secret = p.secrets.searchedBy(c, pl.inside)
	}
	if shown := pl.shownBy(c.Tool, t); pl.Secret == "" && shown != "" {
		pl.Secret, sure = shown, false
	}
	if pl.Secret == "" && c.Tool == "dir_fetch" && isHome(filePath(t)) {
		pl.Secret = homeFiles
	}
	if pl.Secret == "" && pl.Reach.BlindRead {
		pl.Secret = otherSessions
	}
	if pl.Leaves && sure && pl.Secret != "" && pl.Secret != otherSessions {
		pl.Gives = pl.Secret
	}
	pl.Leaves = pl.Leaves || fileWriters[c.Tool] && writesOut(filesOf(c.Tool, t.strings))
	pl.typed = pl.Leaves && r.name == "web_fetch" && typedByOwner(c, t)
}

// findNamed finds a place where secrets are kept that the call itself names.
func (s *secretIndex) findNamed(pl *Plan, c *toolcall.Call, t *text, does *command.Command) {
	r := pl.rule
	switch {
	case r.secret:
		pl.Secret = keptSecrets
	case r.runs && does.Known() || !t.place && find(s.places, t.bare) == nil && !mayBeSecret(t.lower) && !mayBeSecret(t.bare):
	case r.commands:
		if pl.Secret = s.placeIn(string(t.values)); pl.Secret == "" {
			pl.Secret = s.placeIn(string(t.bare))
		}
	case r.opens: // a model gets the file
		pl.Secret = s.pathGiven(t)
		pl.Leaves = pl.Leaves || pl.Secret != ""
	case pl.Leaves:
		pl.Gives = s.pathGiven(t)
	case r.sink:
		pl.Secret = s.placeIn(strings.Join(filesOf(c.Tool, t.strings), "\x00"))
	default:
		pl.Secret = s.placeIn(string(t.values))
	}
}

// placeIn is the word of a text that names a place where secrets are kept.
func (s *secretIndex) placeIn(text string) string {
	if !s.mayName(text) {
		return ""
	}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'`;|&<>(){}=,", c) }) {
		if find(s.places, word) != nil {
			return bounded(word, "")
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'`;|&<>=,", c) }) {
		if endsAsKey(word) || namesSecretFile(word) && !isSettingName(word) {
			return bounded(word, "")
		}
	}
	return string(find(s.places, text))
}

// isSettingName reports whether a word is rather the name of a setting than that of a file, such as client_secret_basic.
func isSettingName(word string) bool {
	lower := strings.ToLower(word)
	return strings.HasPrefix(lower, "client_secret") && !strings.Contains(lower, "/") && !strings.HasSuffix(lower, ".json")
}

// mayName reports whether a text names a place where secrets are kept, or holds a part of the name of a file of keys. If not, none of its words does.
func (s *secretIndex) mayName(text string) bool {
	if find(s.places, text) != nil {
		return true
	}
	return mayBeSecret([]byte(command.Fold(text)))
}

// mayBeSecret reports whether a text holds a part of the name of a file of keys.
func mayBeSecret(lower []byte) bool {
	return mayEndSo(lower) || slices.ContainsFunc(secretNameParts, func(part string) bool { return bytes.Contains(lower, []byte(part)) })
}

// mayEndSo reports whether a text holds the ending of a file of keys.
func mayEndSo(lower []byte) bool {
	for at := range len(lower) - 1 {
		if lower[at] != '.' {
			continue
		}
		for _, end := range secretEndingsBy[lower[at+1]] {
			if rest := lower[at:]; len(rest) >= len(end) && string(rest[:len(end)]) == end {
				return true
			}
		}
	}
	return false
}

// endsAsKey reports whether a word is the name of a file of keys. Code is none, such as
// log(a.key), nor is a member's name, such as .data.key.
func endsAsKey(word string) bool {
	if !strings.Contains(word, ".") {
		return false
	}
	if !strings.Contains(word, "(") {
		word = strings.TrimRight(word, ")")
	}
	if strings.HasPrefix(word, ".") && !strings.Contains(word, "/") {
		return false
	}
	lower := strings.ToLower(strings.TrimRight(word, "}]:"))
	isAny := func(ends []string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(lower, end) && !strings.HasSuffix(lower, "/"+end) })
	}
	return isAny(secretEndings) && !isAny(codeEndings)
}

// isHome reports whether a path is somebody's home directory or holds them all.
func isHome(name string) bool {
	name = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(name, `\`, "/")), "@"))
	for _, home := range []string{"$home", "${home}", "$userprofile", "${userprofile}", "%userprofile%"} {
		if rest, ok := strings.CutPrefix(name, home); ok && (rest == "" || rest[0] == '/') {
			name = "~" + rest
		}
	}
	if name == "" {
		return false
	}
	name = path.Clean(strings.TrimPrefix(name, "c:"))
	switch dir, last := path.Split(name); dir {
	case "/":
		return last == "" || last == "root" || last == "home" || last == "users"
	case "/home/", "/users/":
		return true
	default:
		return dir == "" && (last == "~" || len(last) > 1 && last[0] == '~' && 'a' <= last[1] && last[1] <= 'z')
	}
}

// pathGiven is a path among the arguments of a call that names such a place. A text
// with spaces is something that is said, and an address is not a file.
func (s *secretIndex) pathGiven(t *text) string {
	for at, value := range t.strings {
		local, isFile := strings.CutPrefix(value, "file:")
		if name := strings.TrimRight(at[strings.LastIndexByte(at, '.')+1:], "[]0123456789"); mediaParams[name] {
			isFile = isFile || !isAddress(value)
		}
		if isFile || !strings.ContainsAny(value, " \n\t") && !isAddress(value) {
			if place := s.placeIn(local); place != "" {
				return place
			}
		}
	}
	return ""
}

// Quotes reports whether the plan says anything in words of the call.
func (pl *Plan) Quotes() bool {
	return pl.Secret != "" || pl.Gives != "" || pl.does != "" || pl.outwards != ""
}

// Unquote takes words of the call out of what the plan says, where something in the
// call is hidden and the words may be that: a command's always, a place's unless it
// is in what is shown, which is in lower case.
func (pl *Plan) Unquote(shown string) {
	if pl.does != "" {
		pl.does = "The command holds something that is hidden, so we don't say more of it: it could reach the network or run anything."
	}
	if strings.HasPrefix(pl.outwards, "`") {
		pl.outwards = "This can send data out or publish something."
	}
	for _, place := range []*string{&pl.Secret, &pl.Gives} {
		if *place != "" && !slices.Contains(plainSecrets, *place) && !strings.Contains(shown, strings.ToLower(*place)) {
			*place = keptSecrets
		}
	}
}

// typedByOwner reports whether every address of a call is in the owner's own messages,
// byte for byte and as a word of its own: then it carries nothing that the owner did
// not write.
func typedByOwner(c *toolcall.Call, t *text) bool {
	messages, found := c.OwnerMessages(), false
	for path, value := range t.strings { // names of arguments among them
		switch {
		case path == value && fetchParams[path]:
		case path == "url" && saidBy(messages, value):
			found = true
		case path == "extractMode" && (value == "markdown" || value == "text"):
		default:
			return false
		}
	}
	return found
}

// fetchParams are the arguments of web_fetch, none of which but the address leaves
// the machine.
var fetchParams = words("url extractMode maxChars")

func saidBy(messages []string, address string) bool {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return false
	}
	return slices.ContainsFunc(messages, func(m string) bool { return holdsWord(m, address) })
}

// holdsWord reports whether an address is in a message as a word of its own.
func holdsWord(m, address string) bool {
	for at := 0; ; {
		i := strings.Index(m[at:], address)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(address)
		if (start == 0 || strings.IndexByte(" \n\t<(\"'", m[start-1]) >= 0) && endsAddress(m[end:]) {
			return true
		}
		at = start + 1
	}
}

// endsAddress reports whether an address is over before this text. A dot or a comma
// belongs to the sentence only where nothing follows it.
func endsAddress(rest string) bool {
	rest = strings.TrimLeft(rest, ".,;:!?")
	return rest == "" || strings.IndexByte(" \n\t>)\"'", rest[0]) >= 0
}

// gateSecrets asks before a conversation that has read secrets sends anything away,
// and before any call gives a secret away, at every level.
func (j *judgement) gateSecrets() {
	if !j.Leaves || j.runsSeen(j.view) {
		return
	}
	var why string
	switch {
	case j.view.Bears:
		why = "This holds what looks like a password or a key, and would send it out."
	case j.Gives != "":
		why = "This would send out " + j.Gives + ", where secrets are kept."
	case bringsSecret(j.view):
		why = "This holds text that the agent read where secrets are kept, and would send it out."
	case j.gated && !j.typed && j.view.Secret != "":
		why = "The agent has read " + j.view.Secret + " and this would send data out."
	case j.view.Unread:
		why = "This could not be compared in full with what the agent read where secrets are kept, and would send data out."
	default:
		return
	}
	j.out.Mode, j.out.Secret = taint.Stricter(j.out.Mode, confirm), true
	j.out.add(secretsRule, why, j.out.Mode)
}

// secretsRule is the id of the rule.
const secretsRule = "secrets"

// bringsSecret reports whether an argument holds something that a call returned which
// read secrets.
func bringsSecret(view *session.View) bool {
	for _, o := range view.Origins {
		if o.From == session.FromTool && o.Secret {
			return true
		}
	}
	return false
}

// KeepsSecrets reports whether a path is a place where secrets are kept.
func (p *Policy) KeepsSecrets(path string) bool { return path != "" && p.secrets.placeIn(path) != "" }
