package record

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// longest is how many characters of one value are printed; the file has all.
const longest = 400

// Sentence renders the entry as one line without its newline:
//
//	2026-10-03 14:02:11Z ✗ deny · exec · agent:main:main · external → untrusted · ref 7Q4K
//
// Nothing in it can move the cursor, start a line or hide: see visible.
func (e Entry) Sentence() string {
	parts := []string{e.At.UTC().Format("2006-01-02 15:04:05Z") + " " + e.mark()}
	for _, p := range []string{
		e.tool(), visible(e.Session), e.levels(), labelled("by", e.By), e.grant(),
		waited(e.WaitedMs), labelled("error", e.Error), labelled("ref", e.Ref), e.own(),
	} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.Replay {
		parts = append(parts, "given again")
	}
	return strings.Join(parts, " · ")
}

// Print writes the entry for people: its sentence, then indented why, who
// answered, and with which params.
func Print(w io.Writer, e Entry) error {
	var b strings.Builder
	b.WriteString(e.Sentence())
	b.WriteByte('\n')
	for _, s := range e.details() {
		b.WriteString("    " + s + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e Entry) details() []string {
	var d []string
	for _, w := range e.Why {
		d = append(d, visible(w))
	}
	for _, o := range e.Origins {
		d = append(d, visible(o))
	}
	for _, p := range e.People {
		d = append(d, p.sentence())
	}
	for _, s := range []string{e.changed(), labelled("agent read:", e.Reason), labelled("note:", e.Note), e.params()} {
		if s != "" {
			d = append(d, s)
		}
	}
	return d
}

// changed says that the arguments are not those that were asked about, and how to find these.
func (e Entry) changed() string {
	switch {
	case e.Asked != "":
		return "a person changed the arguments; asked about was the call with the digest " + visible(e.Asked)
	case e.Edited != "":
		return "with other arguments: the call with the digest " + visible(e.Edited)
	}
	return ""
}

func (p Person) sentence() string {
	s := visible(p.Name) + " answered"
	if p.Says != "" {
		s = visible(p.Name) + " said " + visible(p.Says)
	}
	if p.Via != "" {
		s += " on " + visible(p.Via)
	}
	if !p.At.IsZero() {
		s += " at " + p.At.UTC().Format("15:04:05Z")
	}
	if p.TookMs > 0 {
		s += " after " + seconds(p.TookMs)
	}
	if p.Passkey != "" {
		s += " with the passkey " + visible(p.Passkey)
	}
	return s
}

func (e Entry) mark() string {
	switch {
	case e.Decision == Allow:
		return "✓ allow"
	case e.Decision == Deny:
		return "✗ deny"
	case e.Kind == KindAsked:
		return "? asked"
	case e.Kind == KindRepair || e.Kind == KindLock || e.Kind == KindPause:
		return "! " + string(e.Kind)
	}
	return "- " + visible(string(e.Kind))
}

func (e Entry) tool() string {
	if e.Sent == "" || e.Sent == e.Tool {
		return visible(e.Tool)
	}
	return visible(e.Tool) + " (sent as " + visible(e.Sent) + ")"
}

func (e Entry) levels() string {
	if e.RaisedTo == "" || e.RaisedTo == e.Level {
		return visible(e.Level)
	}
	return visible(e.Level) + " → " + visible(e.RaisedTo)
}

func (e Entry) grant() string {
	if e.Minutes == 0 || strings.Contains(e.Scope, strconv.Itoa(e.Minutes)+" minute") { // the scope says it
		return visible(e.Scope)
	}
	return strings.TrimSpace(visible(e.Scope) + " for " + strconv.Itoa(e.Minutes) + " min")
}

// own tells what the log's own lines hold.
func (e Entry) own() string {
	switch {
	case e.Begin != nil:
		return "chain " + visible(e.Begin.Chain) + " under key " + visible(e.Begin.Key) + e.Begin.after()
	case e.Checkpoint != nil:
		return "signed up to entry " + strconv.FormatUint(e.Checkpoint.Seq, 10)
	case e.Removed != nil:
		return visible(e.Removed.File) + ", which ended with entry " + strconv.FormatUint(e.Removed.Head.Seq, 10)
	}
	return ""
}

func (b *Begin) after() string {
	if b.After == nil {
		return ""
	}
	return ", after entry " + strconv.FormatUint(b.After.Head.Seq, 10) + " in " + visible(b.After.File)
}

func (e Entry) params() string {
	if len(e.Params) == 0 {
		return ""
	}
	s := "params " + visible(string(e.Params))
	if e.Hidden > 0 {
		s += fmt.Sprintf(" (%d hidden)", e.Hidden)
	}
	return s
}

func labelled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + visible(value)
}

func waited(ms int64) string {
	if ms == 0 {
		return ""
	}
	return "waited " + seconds(ms)
}

func seconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d > time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}

// visible returns s with everything that a terminal would obey or not show
// written out: control characters, bidirectional and other format characters,
// odd spaces, blanks that pass for letters, bytes that are not UTF-8. The rest
// stays readable; a backslash is left alone, since a made-up escape can only
// make a value look worse than it is. Long values are shortened, and say so.
func visible(s string) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n++; n > longest {
			fmt.Fprintf(&b, "… (%d bytes in all)", len(s))
			break
		}
		writeVisible(&b, s[i:], r)
	}
	return b.String()
}

func writeVisible(b *strings.Builder, rest string, r rune) {
	switch {
	case r == utf8.RuneError && !strings.HasPrefix(rest, "\uFFFD"):
		fmt.Fprintf(b, `\x%02x`, rest[0])
	case shows(r):
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case r > 0xFFFF:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// shows reports whether r leaves ink, or is the plain space. Some letters and
// marks do not, whatever their category says.
func shows(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
