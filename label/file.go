package label

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// File is a file of labels: one line for each tool, sorted by name. A line that this program wrote ends in two sums, of
// what the catalogue said and of the label. A line whose label no longer fits its sum is the owner's, and stays as it is.
type File struct {
	head  string
	tools []*line
	tail  string // comments below the last tool
}

// line is what the file says of one tool.
type line struct {
	name     string
	comments string // the lines above it
	text     string // the line, and those below that belong to it
	label    string // as this program wrote it; "" where the owner did
	defined  string // the sum of what the catalogue said
	reviewed bool
}

const header = `# What tools do, as ` + "`verifier label`" + ` proposes it from their catalogue. Include it in the config: include: [this file].
# Change any line: what you change stays as you write it, and no later run touches it.
`

var (
	written  = regexp.MustCompile(`^  ("(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_.-]*): (\{.*\}) # ([0-9a-f]{8})-([0-9a-f]{8})( reviewed)?$`)
	keyed    = regexp.MustCompile(`^  ("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'":][^:]*):(\s|$)`)
	bareName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// ErrForm says that a file holds more than labels, so that it can't be kept up to date.
var ErrForm = errors.New("is not a file that `verifier label` keeps: it must hold `tools:` with one tool below the other, indented by two spaces")

// Parse reads a file of labels. An empty text is an empty file.
func Parse(text []byte) (*File, error) {
	f := &File{head: header}
	if len(bytes.TrimSpace(text)) == 0 {
		return f, nil
	}
	head, rest, found := strings.Cut("\n"+string(text), "\ntools:\n")
	if !found {
		return nil, ErrForm
	}
	f.head = strings.TrimPrefix(head+"\n", "\n")
	for l := range strings.SplitSeq(f.head, "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			return nil, ErrForm
		}
	}
	return f, f.lines(rest)
}

func (f *File) lines(text string) error {
	comments := ""
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		switch key := keyed.FindStringSubmatch(l); {
		case key != nil:
			name, err := unquoted(key[1])
			if err != nil {
				return ErrForm
			}
			one := &line{name: name, comments: comments, text: l}
			if m := written.FindStringSubmatch(l); m != nil {
				one.defined, one.reviewed = m[3], m[5] != ""
				if sum(m[2]) == m[4] {
					one.label = m[2]
				}
			}
			f.tools, comments = append(f.tools, one), ""
		case strings.TrimSpace(l) == "" || strings.HasPrefix(strings.TrimSpace(l), "#"):
			comments += l + "\n"
		case strings.HasPrefix(l, "   ") && len(f.tools) > 0 && comments == "":
			f.tools[len(f.tools)-1].text += "\n" + l
		default:
			return ErrForm
		}
	}
	f.tail = comments
	return nil
}

// unquoted reads a key as this program writes it, or as YAML does where that is the same.
func unquoted(key string) (string, error) {
	if strings.HasPrefix(key, `"`) {
		return strconv.Unquote(key)
	}
	return strings.Trim(strings.TrimSpace(key), "'"), nil
}

// Change is what a run changed, or would have.
type Change struct {
	Name    string
	Was, Is string // labels; Was is "" for a new tool
	Why     string
	// Kept says that the file is as before: the line is the owner's, or the new label is milder.
	Kept bool
}

// Put takes a proposal for a tool into the file. was is the label that the file has for it now. A label that is milder than the one
// in the file is taken only if milder is set; the owner's own lines are never changed.
func (f *File) Put(t *Tool, p *Proposal, was *policy.Tool, milder bool) *Change {
	text, defined := render(&p.Label), t.sum()
	next := &line{name: t.Name, label: text, defined: defined}
	if why := p.reason(); why != "" {
		next.comments = "  # " + why + "\n"
	}
	next.text = "  " + quoted(t.Name) + ": " + text + " # " + defined + "-" + sum(text)
	at := slices.IndexFunc(f.tools, func(l *line) bool { return toolcall.Canonical(l.name) == toolcall.Canonical(t.Name) })
	if at < 0 {
		at, _ = slices.BinarySearchFunc(f.tools, t.Name, func(l *line, name string) int { return strings.Compare(l.name, name) })
		f.tools = slices.Insert(f.tools, at, next)
		return &Change{Name: t.Name, Is: text, Why: p.reason()}
	}
	old := f.tools[at]
	c := &Change{Name: t.Name, Was: cmpText(old), Is: text, Why: p.reason()}
	switch {
	case old.label == text && old.defined == defined:
		if p.milder { // the reasons are new, and the label is not
			old.comments = next.comments
		}
		return nil
	case old.label == "" && (old.defined == defined || old.defined == ""): // the owner's, and nothing is new
		return nil
	case old.label == "", was != nil && !milder && isMilder(was, &p.Label):
		c.Kept = true
		return c
	}
	f.tools[at] = next
	return c
}

// cmpText is what a line says, without its name and its sums.
func cmpText(l *line) string {
	if l.label != "" {
		return l.label
	}
	_, text, _ := strings.Cut(l.text, ":")
	return strings.TrimSpace(text)
}

// Reviewed notes that the owner has looked at the line of a tool.
func (f *File) Reviewed(name string) {
	for _, l := range f.tools {
		if l.name == name && l.label != "" && !l.reviewed {
			l.reviewed, l.text = true, l.text+" reviewed"
		}
	}
}

// Set writes the owner's own word for a tool.
func (f *File) Set(name string, t *policy.Tool) {
	for _, l := range f.tools {
		if l.name == name {
			l.label, l.text = "", "  "+quoted(name)+": "+render(t)+" # yours"
		}
	}
}

// Entry is what the file says of a tool, for a review.
type Entry struct {
	Name, Label, Why string
	Reviewed         bool
}

// Entries are all tools of the file, in its order.
func (f *File) Entries() []Entry {
	out := make([]Entry, len(f.tools))
	for i, l := range f.tools {
		out[i] = Entry{Name: l.name, Label: cmpText(l), Why: strings.TrimPrefix(strings.TrimSpace(l.comments), "# "), Reviewed: l.reviewed || l.label == ""}
	}
	return out
}

// Unreviewed are the entries that the owner has not looked at.
func (f *File) Unreviewed() []Entry {
	return slices.DeleteFunc(f.Entries(), func(e Entry) bool { return e.Reviewed })
}

// Text is the file.
func (f *File) Text() []byte {
	var b bytes.Buffer
	b.WriteString(f.head + "tools:\n")
	for _, l := range f.tools {
		b.WriteString(l.comments + l.text + "\n")
	}
	b.WriteString(f.tail)
	return b.Bytes()
}

func (p *Proposal) reason() string { return strings.Join(p.Why, "; ") }

// sum tells definitions of a tool apart.
func (t *Tool) sum() string {
	text, err := json.Marshal(t, json.Deterministic(true))
	if err != nil {
		return sum(t.Name)
	}
	return sum(string(text))
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:4])
}

// render writes a label on one line, in the order in which docs list the keys.
func render(t *policy.Tool) string {
	var parts []string
	truth := func(key string, v *bool) {
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s: %v", key, *v))
		}
	}
	list := func(key string, names []string) {
		if names != nil {
			q := make([]string, len(names))
			for i, n := range names {
				q[i] = quoted(n)
			}
			parts = append(parts, key+": ["+strings.Join(q, ", ")+"]")
		}
	}
	truth("source", t.Source)
	truth("sink", t.Sink)
	truth("safe", t.Safe)
	truth("leaves", t.Leaves)
	list("destinations", t.Destinations)
	list("content", t.Content)
	truth("destructive", t.Destructive)
	truth("money", t.Money)
	truth("secret", t.Secret)
	return "{" + strings.Join(parts, ", ") + "}"
}

// words of YAML that are no texts.
var notText = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)

func quoted(name string) string {
	if bareName.MatchString(name) && !notText.MatchString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}

// isMilder reports whether anything passes with the second label that the first would stop. Both are proposals.
func isMilder(was, is *policy.Tool) bool {
	lost := func(a, b *bool) bool { return a != nil && *a && (b == nil || !*b) }
	return lost(was.Destructive, is.Destructive) || lost(was.Money, is.Money) || lost(was.Secret, is.Secret) ||
		slices.ContainsFunc(was.Destinations, func(n string) bool { return !slices.Contains(is.Destinations, n) })
}
