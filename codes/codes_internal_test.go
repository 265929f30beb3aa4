package codes

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestCodeIsFixedByKeyAndCard(t *testing.T) {
	key := []byte("server-key")
	if got := Code(key, "card-1"); got != "1fc45177" {
		t.Errorf("got %s", got)
	}
	if Code(key, "card-2") == Code(key, "card-1") || Code([]byte("other"), "card-1") == Code(key, "card-1") {
		t.Error("another card or key has the same code")
	}
}

func TestWithoutAKeyThereIsNoCode(t *testing.T) {
	if got := Code(nil, "card-1") + Code([]byte{}, "card-1"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestRefIsFourPlainCharacters(t *testing.T) {
	if got := Ref("card-1"); got != "EKDS" {
		t.Errorf("got %s", got)
	}
	plain := regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}$`)
	seen := map[rune]bool{}
	for i := range 2000 {
		r := Ref(strings.Repeat("x", i))
		if !plain.MatchString(r) {
			t.Fatalf("ref %q", r)
		}
		for _, c := range r {
			seen[c] = true
		}
	}
	if len(seen) != 32 {
		t.Errorf("only %d characters are used", len(seen))
	}
}

func TestIDsAre128RandomBits(t *testing.T) {
	if id, err := NewID(bytes.NewReader([]byte("0123456789abcdefX"))); err != nil || id != "30313233343536373839616263646566" {
		t.Errorf("got %q, %v", id, err)
	}
	a, errA := NewID(nil)
	b, errB := NewID(nil)
	if a == b || len(a) != 32 || errA != nil || errB != nil {
		t.Errorf("%q, %q, %v, %v", a, b, errA, errB)
	}
	if id, err := NewID(strings.NewReader("short")); id != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a source that runs dry gives %q, %v", id, err)
	}
}

// The grammar is this table.
func TestTheGrammar(t *testing.T) {
	const c = "bf619df9"
	long, emoji := strings.Repeat("r", 300), "no \u2019til 👨\u200d👩\u200d👧"
	for text, want := range map[string]Command{
		".approve exec bf619df9":             {Verb: Approve, Tool: "exec", Code: c},
		".approve EXEC BF619DF9":             {Verb: Approve, Tool: "exec", Code: c},
		".Approve exec bf619df9":             {Verb: Approve, Tool: "exec", Code: c},
		" \t.approve exec bf619df9\r\n":      {Verb: Approve, Tool: "exec", Code: c},
		".approve   exec   bf619df9   30":    {Verb: Approve, Tool: "exec", Code: c, Minutes: 30},
		".approve exec bf619df9 030":         {Verb: Approve, Tool: "exec", Code: c, Minutes: 30},
		".approve all bf619df9 99999":        {Verb: Approve, Tool: "all", Code: c, Minutes: 99999},
		".approve all bf619df9 999999999":    {Verb: Approve, Tool: "all", Code: c, Minutes: 999999999},
		".approve ALL bf619df9 Turn":         {Verb: Approve, Tool: "all", Code: c, Turn: true},
		".approve mcp__x.y:z/1 bf619df9":     {Verb: Approve, Tool: "mcp__x.y:z/1", Code: c},
		".approve bf619df9 bf619df9":         {Verb: Approve, Tool: c, Code: c},
		".deny bf619df9":                     {Verb: Deny, Code: c},
		".deny  BF619DF9  not  now ":         {Verb: Deny, Code: c, Reason: "not  now"},
		".deny bf619df9 " + emoji:            {Verb: Deny, Code: c, Reason: emoji},
		".deny bf619df9 " + long:             {Verb: Deny, Code: c, Reason: long},
		".deny bf619df9 .approve x bf619df9": {Verb: Deny, Code: c, Reason: ".approve x bf619df9"},
		".pending":                           {Verb: Pending},
		".PENDING\n":                         {Verb: Pending},
		".reset-trust 7Q4K":                  {Verb: ResetTrust, Session: "7Q4K"},
		".reset-trust " + long[:32]:          {Verb: ResetTrust, Session: long[:32]},
		".help":                              {Verb: Help},
		".pause":                             {Verb: Pause},
		" .Pause  Main ":                     {Verb: Pause, Agent: "Main"},
		".resume":                            {Verb: Resume},
		".resume main":                       {Verb: Resume, Agent: "main"},
		".approve message bf619df9 same":     {Verb: Approve, Tool: "message", Code: "bf619df9", Same: true},
		".approve message bf619df9 same turn": {Verb: Approve, Tool: "message", Code: "bf619df9", Same: true,
			Turn: true},
		".approve all bf619df9 exactly 30": {Verb: Approve, Tool: "all", Code: "bf619df9", Exactly: true,
			Minutes: 30},
		".approve exec bf619df9 exactly":      {Verb: Approve, Tool: "exec", Code: "bf619df9", Exactly: true},
		".approve exec bf619df9 exactly 30":   {Verb: Approve, Tool: "exec", Code: "bf619df9", Exactly: true, Minutes: 30},
		".Approve EXEC BF619DF9 Exactly 30":   {Verb: Approve, Tool: "exec", Code: "bf619df9", Exactly: true, Minutes: 30},
		".approve exec bf619df9 exactly turn": {Verb: Approve, Tool: "exec", Code: "bf619df9", Exactly: true, Turn: true},
		".approve message bf619df9 SAME 15": {Verb: Approve, Tool: "message", Code: "bf619df9", Same: true,
			Minutes: 15},
		".grants":           {Verb: Grants},
		".sources 1A2B3C4D": {Verb: Sources, Session: "1A2B3C4D"},
		".revoke All":       {Verb: Revoke},
		" .Revoke  7q4k ":   {Verb: Revoke, Grant: "7q4k"},
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestAlmostACommandGetsAHintWithoutTheCode(t *testing.T) {
	for _, text := range []string{
		".approve", ".approve ", ".approve exec", ".approve bf619df9", ".approve bf619df9 exec", ".approve exec bf619df", ".approve exec bf619df9a",
		".approve exec bf619dfg", ".approve exec 0xbf619d", ".approve exec bf619df9 0", ".approve exec bf619df9 000", ".approve exec bf619df9 -5",
		".approve exec bf619df9 +5", ".approve exec bf619df9 5m", ".approve exec bf619df9 1.5", ".approve exec bf619df9 1234567890",
		".approve exec bf619df9 always", ".approve exec bf619df9 30 turn", ".approve exec bf619df9 30 please", ".approve exec bf619df9 ٣",
		".approve\nexec bf619df9", ".approve exec\nbf619df9", ".approve exec bf619df9\n.approve all bf619df9", ".approve\texec\tbf619df9",
		".approve exec \u201cbf619df9\u201d", ".approve \u200bexec bf619df9", ".approve exec bf619df9\u200b", ".approve\u00a0exec bf619df9",
		".approve\u200b exec bf619df9", ".approve \u0435xec bf619df9", ".approve ex\u0000ec bf619df9", ".approve! exec bf619df9", ".approve, exec bf619df9", ".approve.exec bf619df9", ".deny:bf619df9",
		".approve " + strings.Repeat("t", 129) + " bf619df9", ".approve exec bf619df9" + strings.Repeat(" ", 5000) + "30",
		".deny", ".deny exec bf619df9", ".deny bf619df", ".deny bf619df9x", ".deny bf619df9 a\nb", ".deny bf619df9\nno", ".deny bf619df9 a\tb", ".deny bf619df9 \u202eab",
		".deny bf619df9 a\u2028b", ".deny bf619df9 a\u0085b", ".deny bf619df9 a\u200bb", ".deny bf619df9 a\x7fb", ".deny bf619df9 a\xffb",
		".deny bf619df9 " + strings.Repeat("é", 301),
		".pending all", ".pending?", ".help me", ".help\u200b", ".reset-trust", ".reset-trust abc", ".reset-trust 7Q4K now", ".reset-trust 7Q-4K",
		".pause main now", ".pause\tmain", ".pause ma\u200bin", ".pause \u043cain", ".resume " + strings.Repeat("a", 129), ".resume\nmain",
		".reset-trust " + strings.Repeat("a", 33), ".reset-trust 7Q4\u212a",
		".sources x", ".sources 1A2B3C4D 1",
		".approve exec bf619df9 exactly 0", ".approve exec bf619df9 exactly -1", ".approve exec bf619df9 exactly 1 2",
		".approve exec bf619df9 30 exactly",
		".approve exec bf619df9 exactly exactly", ".approve exec bf619df9 exactly same",
		".approve exec bf619df9 same exactly", ".approve exec bf619df9 exactly turn 30",
		".approve exec bf619df9 exactlу", ".approve exec exactly bf619df9", ".approve exec bf619df9 exact 30",
		".approve message bf619df9 like", ".approve message bf619df9 same 1 2", ".approve message bf619df9 30 same",
		".approve message bf619df9 same 0", `.approve exec bf619df9 with {"command":"date"}`,
		".grants all", ".revoke", ".revoke ", ".revoke 7Q4K now", ".revoke 7Q-4K", ".revoke 7Q4\u212a", ".revoke\n7Q4K", ".revoke " + strings.Repeat("a", 33),
	} {
		c, err := Parse(text)
		s, ok := errors.AsType[*SyntaxError](err)
		if !ok || c != (Command{}) {
			t.Errorf("Parse(%q) = %+v, %v; want a SyntaxError", text, c, err)
			continue
		}
		if !strings.HasPrefix(s.Hint, "Write: .") || strings.Contains(strings.ToLower(s.Error()), "bf619") {
			t.Errorf("%q: hint %q", text, s.Hint)
		}
	}
}

func TestOtherTextIsNotACommand(t *testing.T) {
	for _, text := range []string{
		"", " ", ".", "..", "approve exec bf619df9", "/approve exec bf619df9", "..approve exec bf619df9", "please .approve exec bf619df9",
		"\u200b.approve exec bf619df9", "\u00a0.approve exec bf619df9", "> .approve exec bf619df9", "\".approve exec bf619df9\"", ".approved exec bf619df9", ".approve-all bf619df9",
		".approveexec bf619df9", ".approve_x", ".\u0430pprove exec bf619df9", ".pendings", ".helpful", ".paused", ".pause-all", ".resumed", ".resum", ".source x", ".grant", ".granted", ".revoked 7Q4K", ".revoke-all", ".reset", ".reset-trusted x", ".denyé", "\u2026approve exec bf619df9", "hello\n.pending",
		".approv\u0435 exec bf619df9",
	} {
		if c, err := Parse(text); !errors.Is(err, ErrNotCommand) {
			t.Errorf("Parse(%q) = %+v, %v; want ErrNotCommand", text, c, err)
		}
	}
}

func TestTheZeroCommandIsNone(t *testing.T) {
	var c Command
	if c.Verb == Approve || c.String() != "none" {
		t.Errorf("zero command is %q", c)
	}
}

func TestH29LoggingACommandDoesNotLogItsCode(t *testing.T) {
	var log bytes.Buffer
	c, err := Parse(".approve exec bf619df9 30")
	slog.New(slog.NewJSONHandler(&log, nil)).Info("typed", "command", c, "error", err)
	if strings.Contains(log.String(), "bf619df9") || !strings.Contains(log.String(), ".approve") {
		t.Errorf("logged %s", log.String())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{".approve exec bf619df9 30", ".approve all BF619DF9 turn", ".approve exec bf619df9 exactly 30", ".approve exec bf619df9 exactly turn", ".deny bf619df9 not now", ".pending", ".reset-trust 7Q4K", ".help", ".pause main", ".resume", ".grants", ".sources 1A2B3C4D", ".revoke 7Q4K", ".revoke all", ".approve\u00a0x", "hello"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok && !errors.Is(err, ErrNotCommand) || c != (Command{}) {
				t.Fatalf("Parse(%q) = %+v, %v", text, c, err)
			}
			return
		}
		again, err := Parse(c.String())
		if err != nil || again != c {
			t.Fatalf("%q formats to %q, which parses to %+v, %v", text, c, again, err)
		}
	})
}

// String returns a text that parses to the same command. Only tests need it.
func (c Command) String() string {
	switch c.Verb {
	case Approve:
		return c.Verb.String() + " " + c.Tool + " " + c.Code + c.scope()
	case Deny:
		return strings.TrimRight(c.Verb.String()+" "+c.Code+" "+c.Reason, " ")
	case ResetTrust, Sources:
		return strings.TrimRight(c.Verb.String()+" "+c.Session, " ")
	case Pause, Resume:
		return strings.TrimRight(c.Verb.String()+" "+c.Agent, " ")
	case Revoke:
		return c.Verb.String() + " " + cmp.Or(c.Grant, "all")
	}
	return c.Verb.String()
}

func (c Command) scope() string {
	switch {
	case c.Exactly:
		c.Exactly = false
		return " exactly" + c.scope()
	case c.Same:
		c.Same = false
		return " same" + c.scope()
	case c.Turn:
		return " turn"
	case c.Minutes > 0:
		return " " + strconv.Itoa(c.Minutes)
	}
	return ""
}
