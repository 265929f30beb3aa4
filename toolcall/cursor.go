package toolcall

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// cursor reads JSON that was found valid, value after value. What stands between
// values tells nothing then, and no reading can fail.
type cursor struct {
	text []byte
	at   int
	from int    // where the value begins that was read last
	kept string // the text once more, if it is short: what is read then is part of it
}

// maxShared is how long a body may be that a call's strings keep alive as a whole:
// somebody may hold on to one of them.
const maxShared = 4 << 10

func newCursor(body []byte) *cursor {
	c := &cursor{text: body}
	if len(body) <= maxShared {
		c.kept = string(body)
	}
	return c
}

// peek returns the first byte of the value to come, or the bracket that ends
// the object or array around it.
func (c *cursor) peek() byte {
	for {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r', ',', ':':
			c.at++
		default:
			return b
		}
	}
}

// enter moves into an object or an array.
func (c *cursor) enter() {
	c.peek()
	c.at++
}

// more reports whether there is another value in the object or array that was
// entered. If not, the cursor moves out of it.
func (c *cursor) more() bool {
	if b := c.peek(); b != '}' && b != ']' {
		return true
	}
	c.at++
	return false
}

// next returns a value and moves behind it.
func (c *cursor) next() jsontext.Value {
	first, start := c.peek(), c.at
	switch first {
	case '"':
		c.at = afterString(c.text, start+1)
	case '{', '[':
		c.enter()
		for c.more() {
			c.next()
		}
	default:
		c.at = afterLiteral(c.text, start+1)
	}
	c.from = start
	return c.text[start:c.at]
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
	quoted := c.text[c.from:c.at]
	switch {
	case bytes.IndexByte(quoted, '\\') >= 0:
		text, _ := jsontext.AppendUnquote(nil, quoted)
		return string(text)
	case c.kept != "":
		return c.kept[c.from+1 : c.at-1]
	default:
		return string(quoted[1 : len(quoted)-1])
	}
}
