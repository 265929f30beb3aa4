package label

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
)

// File is a file of labels: one tool a line, sorted as they came. A line that this program wrote ends in a sum of the
// tool's definition. All other lines stay as they are.
type File struct {
	head  string
	lines []line
}

// line is what the file says of one tool: its own line and those below that belong to it.
type line struct{ name, text, sum string }

const header = "# What tools do, as you said in `verifier label`. Include it in the config: " + `include: [this file].
# Change any line: you are asked about a tool again only when its definition changes.
`

var (
	keyed  = regexp.MustCompile(`^  ("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'":][^:]*):(\s|$)`)
	summed = regexp.MustCompile(` # ([0-9a-f]{12})$`)
)

// ErrForm says that a file holds more than labels, so that it can't be kept up to date.
var ErrForm = errors.New(
	"is not a file that `verifier label` keeps: it must hold `tools:` with one tool below the other, " +
		"indented by two spaces",
)

// Parse reads a file of labels. An empty text is an empty file.
func Parse(text []byte) (*File, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return &File{head: header}, nil
	}
	head, rest, found := strings.Cut("\n"+string(text), "\ntools:\n")
	f := &File{head: strings.TrimPrefix(head+"\n", "\n")}
	for l := range strings.Lines(f.head) {
		found = found && (strings.HasPrefix(l, "#") || l == "\n")
	}
	if !found {
		return nil, ErrForm
	}
	for l := range strings.Lines(rest) {
		key, last := keyed.FindStringSubmatch(l), len(f.lines)-1
		switch trimmed := strings.TrimSpace(l); {
		case key != nil:
			name := strings.Trim(strings.TrimSpace(key[1]), "'")
			if unquoted, err := strconv.Unquote(key[1]); err == nil {
				name = unquoted
			}
			one := line{name: name, text: l}
			if sum := summed.FindStringSubmatch(strings.TrimRight(l, "\n")); sum != nil {
				one.sum = sum[1]
			}
			f.lines = append(f.lines, one)
		case trimmed != "" && !strings.HasPrefix(trimmed, "#") && (last < 0 || !strings.HasPrefix(l, "   ")):
			return nil, ErrForm
		case last < 0:
			f.lines = append(f.lines, line{text: l})
		default:
			f.lines[last].text += l
		}
	}
	return f, nil
}

// Open are the tools that the owner has not labelled, or that have changed since.
func (f *File) Open(tools []Tool) (open []Tool) {
	for i := range tools {
		if at := f.find(tools[i].Name); at < 0 || f.lines[at].sum != "" && f.lines[at].sum != tools[i].sum {
			open = append(open, tools[i])
		}
	}
	return open
}

// Set writes the owner's word for a tool.
func (f *File) Set(t *Tool, l *policy.Tool) {
	one := line{t.Name, "  " + quoted(t.Name) + ": " + render(l) + " # " + t.sum + "\n", t.sum}
	if at := f.find(t.Name); at >= 0 {
		f.lines[at] = one
		return
	}
	if n := len(f.lines) - 1; n >= 0 && !strings.HasSuffix(f.lines[n].text, "\n") {
		f.lines[n].text += "\n"
	}
	f.lines = append(f.lines, one)
}

func (f *File) find(name string) int {
	name = protocol.Canonical(name)
	return slices.IndexFunc(f.lines, func(l line) bool { return protocol.Canonical(l.name) == name })
}

// Text is the file.
func (f *File) Text() []byte {
	text := f.head + "tools:\n"
	for _, l := range f.lines {
		text += l.text
	}
	return []byte(text)
}

// render writes a label on one line.
func render(t *policy.Tool) string {
	var parts []string
	for _, one := range []struct {
		key string
		is  *bool
	}{
		{"source", t.Source}, {"sink", t.Sink}, {"safe", t.Safe}, {"leaves", t.Leaves}, {"destructive", t.Destructive},
		{"secret", t.Secret},
	} {
		if one.is != nil {
			parts = append(parts, fmt.Sprintf("%s: %v", one.key, *one.is))
		}
	}
	if len(t.Destinations) > 0 {
		parts = append(parts, "destinations: ["+quoted(t.Destinations...)+"]")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func quoted(names ...string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = strconv.QuoteToASCII(n)
	}
	return strings.Join(all, ", ")
}
