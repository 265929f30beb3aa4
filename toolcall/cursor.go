package toolcall

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// cursor reads a body, member by member and value by value. It checks what it
// passes, as long as that is plain, and fails where it is not: what was read then
// counts for nothing. If it is told that the text is valid, it takes it as it is
// and can't fail.
type cursor struct {
	plain
	valid  bool
	failed bool
	first  bool   // nothing was read yet of the object or array that was entered
	from   int    // where the value begins that was read last
	kept   string // the text once more, if it is short: what is read then is part of it
}

// maxShared is how long a body may be that a call's strings keep alive as a whole:
// somebody may hold on to one of them.
const maxShared = 4 << 10

// fail ends the reading: nothing comes any more.
func (c *cursor) fail() {
	c.failed, c.first, c.at = true, false, len(c.text)
}

// done reports whether the whole text was read, and found valid.
func (c *cursor) done() bool { return c.peek() == 0 && c.at == len(c.text) && !c.failed }

// enter moves into the object or array that comes next.
func (c *cursor) enter() {
	c.at++
	c.first = true
}

// more reports whether there is another member or value before the bracket that
// ends the object or array that was entered, and moves to it. If not, the cursor
// moves out.
func (c *cursor) more(end byte) bool {
	switch b := c.peek(); {
	case b == end:
		c.at++
		c.first = false
		return false
	case c.first:
		c.first = false
		return true
	case b == ',':
		c.at++
		return true
	}
	c.fail()
	return false
}

// name returns the name of the member that comes next and moves to its value.
// Those of the same object that were read before are in seen.
func (c *cursor) name(seen *names) []byte {
	c.peek()
	start := c.at
	if c.valid {
		c.at = afterString(c.text, start+1)
		quoted := c.text[start:c.at]
		c.accept(':')
		return unquoted(quoted)
	}
	if !c.plain.name(seen) {
		c.fail()
		return nil
	}
	last := seen.at[seen.n-1]
	return c.text[last.start:last.end]
}

// null stands for a value that could not be read.
var null = jsontext.Value("null")

// next returns a value and moves behind it.
func (c *cursor) next() jsontext.Value {
	c.peek()
	start := c.at
	if c.valid {
		c.skip()
	} else if !c.value(0) {
		c.fail()
		return null
	}
	c.from = start
	return c.text[start:c.at]
}

// skip passes a value of a valid text.
func (c *cursor) skip() {
	switch c.text[c.at] {
	case '"':
		c.at = afterString(c.text, c.at+1)
	case '{', '[':
		c.skipNested()
	default:
		c.at = afterLiteral(c.text, c.at+1)
	}
}

// skipNested passes an object or array: up to the bracket that ends it.
func (c *cursor) skipNested() {
	for depth := 0; ; {
		switch c.text[c.at] {
		case '"':
			c.at = afterString(c.text, c.at+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.at++
		if depth == 0 {
			return
		}
	}
}

// afterLiteral returns the index after a number, true, false or null.
func afterLiteral(text []byte, i int) int {
	for i < len(text) && text[i] > ' ' && text[i] != ',' && text[i] != ']' && text[i] != '}' {
		i++
	}
	return i
}

// said is the text of the string that was read last.
func (c *cursor) said() string {
	if c.hasEscape() {
		return string(unquoted(c.text[c.from:c.at]))
	}
	if quoted := c.shared(); quoted != "" {
		return quoted[1 : len(quoted)-1]
	}
	return string(c.text[c.from+1 : c.at-1])
}

// shared is the value that was read last as a part of the whole text, or "" where
// that is too long to be kept.
func (c *cursor) shared() string {
	if len(c.text) > maxShared || c.failed {
		return ""
	}
	if c.kept == "" {
		c.kept = string(c.text)
	}
	return c.kept[c.from:c.at]
}

// hasEscape reports whether there is an escape in the string that was read last.
func (c *cursor) hasEscape() bool {
	if c.valid {
		return bytes.IndexByte(c.text[c.from:c.at], '\\') >= 0
	}
	return c.escaped
}

// unquoted is the text of a string.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, quoted)
	return text
}
