package codes

import (
	"errors"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Verb is what a command asks for. The zero Verb is none of them, so that an empty Command approves nothing.
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
	for i := range words {
		if words[i].verb == v {
			return words[i].word
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
	Same    bool   // Approve: calls to the same recipients
	Reason  string // Deny: may be empty
	Session string // ResetTrust, Sources: the ref of a session, as typed
	Agent   string // Pause, Resume: the agent as typed; empty means all
	Grant   string // Revoke: the ref of the card it was given on, as typed; empty means all
}

// ErrNotCommand is the error for a text that does not start with one of our words. Callers ignore such a message
// silently.
var ErrNotCommand = errors.New("not a command")

// SyntaxError is the error for a text that starts like a command and is none. Hint says the right form; it never
// repeats what was typed.
type SyntaxError struct{ Hint string }

func (e *SyntaxError) Error() string { return e.Hint }

const (
	maxReason  = 300
	maxMessage = 4 << 10 // bytes; more than any command can have
)

// words is the grammar: the word, what to write, and what follows the word, as it is in lower case. Only the space
// separates.
var words = []struct {
	word string
	verb Verb
	form string
	args func() *regexp.Regexp
}{
	{".approve", Approve, "Write: .approve <tool|all> <code> [exactly|same] [minutes|turn]", args(
		` +(?<tool>[!-~]{1,128}) +(?<code>[0-9a-f]{8})( +((?<exactly>exactly)|(?<same>same)))?` +
			`( +((?<turn>turn)|(?<minutes>0*[1-9][0-9]{0,8})))?`)},
	{".deny", Deny, "Write: .deny <code> [reason], in one line, with a reason of at most 300 characters", args(
		` +(?<code>[0-9a-f]{8})( +(?<reason>[^ ].*?))?`)},
	{".pending", Pending, "Write: .pending, with nothing behind it", args(``)},
	{".reset-trust", ResetTrust, "Write: .reset-trust <session-ref>", args(` +(?<session>[0-9a-z]{4,32})`)},
	{".sources", Sources, "Write: .sources [session-ref]", args(`( +(?<session>[0-9a-z]{4,32}))?`)},
	{".pause", Pause, "Write: .pause [agent]", args(`( +(?<agent>[!-~]{1,128}))?`)},
	{".resume", Resume, "Write: .resume [agent]", args(`( +(?<agent>[!-~]{1,128}))?`)},
	{".grants", Grants, "Write: .grants, with nothing behind it", args(``)},
	{".revoke", Revoke, "Write: .revoke <ref|all>", args(` +(all|(?<grant>[0-9a-z]{1,32}))`)},
	{".pair", Pair, "Write: .pair <code>, with the code that `verifier setup` shows", args(` +(?<code>[0-9a-f]{8})`)},
	{".help", Help, "Write: .help, with nothing behind it", args(``)},
}

// args is compiled when it is needed: this is part of programs that have to start fast.
func args(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + pattern + ` *$`) })
}

// Parse reads a whole message as one command. The word may be in either case, because phones capitalise the start of a
// message.
func Parse(typed string) (Command, error) {
	typed = strings.Trim(typed, " \t\n\v\f\r")
	for i := range words {
		w := &words[i]
		rest, ok := strings.CutPrefix(text.Lower(typed[:min(len(typed), maxMessage+1)]), w.word)
		if !ok || goesOn(rest) {
			continue
		}
		c := Command{Verb: w.verb}
		if len(typed) > maxMessage || !c.fill(w.args(), rest, typed[len(w.word):]) {
			return Command{}, &SyntaxError{Hint: w.form}
		}
		return c, nil
	}
	return Command{}, ErrNotCommand
}

// goesOn reports whether the word does: a letter, a digit, a hyphen or an underscore makes it another one.
func goesOn(rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (next == '-' || next == '_' || unicode.IsLetter(next) || unicode.IsDigit(next))
}

// fill takes what follows the word: it is matched in lower case, and taken as it was typed where that counts.
func (c *Command) fill(args *regexp.Regexp, rest, typed string) bool {
	at := args.FindStringSubmatchIndex(rest)
	for i, name := range args.SubexpNames() {
		if at == nil || 2*i >= len(at) || at[2*i] < 0 {
			continue
		}
		lower, own := rest[at[2*i]:at[2*i+1]], typed[at[2*i]:at[2*i+1]]
		switch name {
		case "tool":
			c.Tool = lower
		case "code":
			c.Code = lower
		case "exactly":
			c.Exactly = true
		case "same":
			c.Same = true
		case "turn":
			c.Turn = true
		case "minutes":
			c.Minutes, _ = strconv.Atoi(lower) // nine digits at most
		case "reason":
			c.Reason = own
		case "session":
			c.Session = own
		case "agent":
			c.Agent = own
		case "grant":
			c.Grant = own
		}
	}
	return at != nil && isReason(c.Reason)
}

// isReason takes what people write, quotes of phones and emoji included, and refuses what a reader would not see.
func isReason(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxReason && !strings.ContainsFunc(s, isHidden)
}

// isHidden spares the two joiners that emoji and some scripts need.
func isHidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner
}

// LogValue implements [slog.LogValuer], so that logging a command does not log its code.
func (c Command) LogValue() slog.Value { return slog.StringValue(c.Verb.String()) }
