package codes

import (
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Verb is what a command asks for. The zero Verb is none of them, so that an
// empty Command approves nothing.
type Verb int

// The verbs.
const (
	Approve Verb = iota + 1
	Deny
	Pending
	ResetTrust
	Help
	Pause
	Resume
	Grants
	Revoke
	Sources
	Pair
)

// String returns the word that is typed for the verb.
func (v Verb) String() string {
	for _, w := range words {
		if w.verb == v {
			return w.word
		}
	}
	return "none"
}

// Command is one parsed message.
type Command struct {
	Verb    Verb
	Tool    string // Approve: the tool as typed, in lower case, or "all"
	Code    string // Approve, Deny, Pair: eight hex digits in lower case
	Minutes int    // Approve: 0 when not given; not capped here
	Turn    bool   // Approve: until the run ends
	Exactly bool   // Approve: exactly this call, as often as it comes
	Like    bool   // Approve: calls like it, to the same destination
	Same    bool   // Approve: calls to the same recipients
	With    string // Approve: what it is to run with instead, an object as typed; empty: what was asked about
	Reason  string // Deny: may be empty
	Session string // ResetTrust, Sources: the ref of a session, as typed
	Agent   string // Pause, Resume: the agent as typed; empty means all
	Grant   string // Revoke: the ref of the card it was given on, as typed; empty means all
}

// ErrNotCommand is the error for a text that does not start with one of our
// words. Callers ignore such a message silently.
var ErrNotCommand = errors.New("not a command")

// SyntaxError is the error for a text that starts like a command and is none.
// Hint says the right form; it never repeats what was typed.
type SyntaxError struct {
	Hint string
}

func (e *SyntaxError) Error() string { return e.Hint }

const (
	maxTool    = 128
	maxReason  = 300
	maxMinutes = 9 // digits, which fit into an int everywhere
	minSession = 4
	maxSession = 32
	maxMessage = 4 << 10 // bytes; more than any command can have
)

// words is the grammar. The verb's parser gets everything behind the word.
var words = []struct {
	word  string
	verb  Verb
	form  string
	parse func(rest string, c *Command) bool
}{
	{".approve", Approve, "Write: .approve <tool|all> <code> [minutes|turn], .approve <tool> <code> exactly [minutes|turn], .approve <tool> <code> like [minutes], or .approve <tool> <code> with {arguments as JSON}", parseApprove},
	{".deny", Deny, "Write: .deny <code> [reason], in one line, with a reason of at most 300 characters", parseDeny},
	{".pending", Pending, "Write: .pending, with nothing behind it", parseNothing},
	{".reset-trust", ResetTrust, "Write: .reset-trust <session-ref>", parseResetTrust},
	{".sources", Sources, "Write: .sources [session-ref]", parseSources},
	{".pause", Pause, "Write: .pause [agent]", parseAgent},
	{".resume", Resume, "Write: .resume [agent]", parseAgent},
	{".grants", Grants, "Write: .grants, with nothing behind it", parseNothing},
	{".revoke", Revoke, "Write: .revoke <ref|all>", parseRevoke},
	{".pair", Pair, "Write: .pair <code>, with the code that `verifier setup` shows", parsePair},
	{".help", Help, "Write: .help, with nothing behind it", parseNothing},
}

// asciiSpace is what is trimmed around a message. Inside, only the space
// separates.
const asciiSpace = " \t\n\v\f\r"

// Parse reads a whole message as one command. The word may be in either case,
// because phones capitalise the start of a message.
func Parse(text string) (Command, error) {
	text = strings.Trim(text, asciiSpace)
	for _, w := range words {
		rest, ok := cutWord(text, w.word)
		if !ok {
			continue
		}
		c := Command{Verb: w.verb}
		if !separated(rest) || len(rest) > maxMessage || !w.parse(rest, &c) {
			return Command{}, &SyntaxError{Hint: w.form}
		}
		return c, nil
	}
	return Command{}, ErrNotCommand
}

// cutWord cuts the word off the text, unless the text goes on with a letter, a
// digit, a hyphen or an underscore, which makes it another word.
func cutWord(text, word string) (rest string, ok bool) {
	if len(text) < len(word) || lowerASCII(text[:len(word)]) != word {
		return "", false
	}
	rest = text[len(word):]
	next, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && (next == '-' || next == '_' || unicode.IsLetter(next) || unicode.IsDigit(next)) {
		return "", false
	}
	return rest, true
}

// separated reports whether a space, or nothing, follows the word.
func separated(rest string) bool { return rest == "" || rest[0] == ' ' }

func parseApprove(rest string, c *Command) bool {
	rest, with, edits := strings.Cut(rest, " with {")
	t := tokens(rest)
	if len(t) < 2 || !isTool(t[0]) || !isCode(t[1]) {
		return false
	}
	c.Tool, c.Code = lowerASCII(t[0]), lowerASCII(t[1])
	if edits { // what it says is read where it is known what is asked
		c.With = "{" + with
		return c.Tool != "all" && len(t) == 2
	}
	if len(t) > 2 {
		word := lowerASCII(t[2])
		c.Like, c.Exactly, c.Same = word == "like", word == "exactly", word == "same"
	}
	if c.Same {
		return len(t) == 3 || len(t) == 4 && parseScope(t[3], c)
	}
	if c.Like || c.Exactly {
		return c.Tool != "all" && (len(t) == 3 || len(t) == 4 && parseScope(t[3], c) && (!c.Like || !c.Turn))
	}
	return len(t) == 2 || len(t) == 3 && parseScope(t[2], c)
}

func parseScope(t string, c *Command) bool {
	if lowerASCII(t) == "turn" {
		c.Turn = true
		return true
	}
	if len(t) > maxMinutes || !all(t, isDigit) {
		return false
	}
	n, err := strconv.Atoi(t)
	c.Minutes = n
	return err == nil && n >= 1
}

func parseDeny(rest string, c *Command) bool {
	code, reason, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	c.Code, c.Reason = lowerASCII(code), strings.Trim(reason, " ")
	return isCode(code) && isReason(c.Reason)
}

func parsePair(rest string, c *Command) bool {
	t := tokens(rest)
	if len(t) != 1 || !isCode(t[0]) {
		return false
	}
	c.Code = lowerASCII(t[0])
	return true
}

func parseResetTrust(rest string, c *Command) bool {
	t := tokens(rest)
	if len(t) != 1 || len(t[0]) < minSession || len(t[0]) > maxSession || !all(t[0], isAlphanumeric) {
		return false
	}
	c.Session = t[0]
	return true
}

func parseSources(rest string, c *Command) bool {
	return len(tokens(rest)) == 0 || parseResetTrust(rest, c)
}

func parseAgent(rest string, c *Command) bool {
	t := tokens(rest)
	if len(t) == 1 {
		c.Agent = t[0]
	}
	return len(t) == 0 || len(t) == 1 && isTool(t[0])
}

func parseRevoke(rest string, c *Command) bool {
	t := tokens(rest)
	if len(t) != 1 || len(t[0]) > maxSession || !all(t[0], isAlphanumeric) {
		return false
	}
	if lowerASCII(t[0]) != "all" {
		c.Grant = t[0]
	}
	return true
}

func parseNothing(rest string, _ *Command) bool { return rest == "" }

// tokens splits at spaces only: any other white space stays in a token and
// makes it a wrong one.
func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
}

func isTool(t string) bool { return 1 <= len(t) && len(t) <= maxTool && all(t, isVisibleASCII) }

func isCode(t string) bool { return len(t) == codeLen && all(t, isHex) }

// isReason takes what people write, quotes of phones and emoji included, and
// refuses what a reader would not see.
func isReason(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxReason && !strings.ContainsFunc(s, isHidden)
}

// isHidden spares the two joiners that emoji and some scripts need.
func isHidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner
}

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool        { return '0' <= b && b <= '9' }
func isHex(b byte) bool          { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }
func isAlphanumeric(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'z' }
func isVisibleASCII(b byte) bool { return '!' <= b && b <= '~' }

// lowerASCII leaves all else alone, so that no other letter turns into one of
// a command.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// LogValue implements [slog.LogValuer], so that logging a command does not log
// its code.
func (c Command) LogValue() slog.Value { return slog.StringValue(c.Verb.String()) }
