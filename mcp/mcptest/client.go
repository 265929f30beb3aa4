package mcptest

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Client is the client of a server of tools, or of a gate before one.
type Client struct {
	t    testing.TB
	in   io.Writer
	got  chan string // what it reads, line by line
	past []string
	id   int
}

// NewClient makes one that writes to in and reads from out.
func NewClient(t testing.TB, in io.Writer, out io.Reader) *Client {
	c := &Client{t: t, in: in, got: make(chan string, 1000)}
	go func() {
		defer close(c.got)
		for lines := bufio.NewReaderSize(out, 1<<20); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			c.got <- line
		}
	}()
	return c
}

// Write writes a line as it is.
func (c *Client) Write(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("the server has ended: %v", err)
	}
}

// Requests makes a request and returns its id.
func (c *Client) Requests(method, params string) int {
	c.t.Helper()
	c.id++
	c.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, params))
	return c.id
}

// Call calls a tool.
func (c *Client) Call(tool, arguments string) int {
	c.t.Helper()
	return c.Requests("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// Idle lets the server answer something, so that all that was sent to it before is seen.
func (c *Client) Idle() {
	c.t.Helper()
	c.Answer(c.Requests("ping", "{}"))
}

// Answer is that to a request.
func (c *Client) Answer(id int) string {
	c.t.Helper()
	return c.Reads(fmt.Sprintf(`"id":%d,\s*"(result|error)"`, id))
}

// Reads waits for a line that fits, of those that came or come.
func (c *Client) Reads(pattern string) string {
	c.t.Helper()
	fits := regexp.MustCompile(pattern)
	for _, line := range c.past {
		if fits.MatchString(line) {
			return line
		}
	}
	late := time.After(time.Minute)
	for {
		select {
		case line, more := <-c.got:
			if c.past = append(c.past, line); more && fits.MatchString(line) {
				return line
			} else if more {
				continue
			}
		case <-late:
		}
		c.t.Fatalf("no %s in %q", pattern, c.past)
	}
}

// Past is all that the client has read so far.
func (c *Client) Past() string { return strings.Join(c.past, "") }

// Says fails unless a line holds a word.
func (c *Client) Says(line, word string) {
	c.t.Helper()
	if !strings.Contains(line, word) {
		c.t.Errorf("got %s, want %q", line, word)
	}
}

// Denied fails unless a call ends in a result that is an error, with words.
func (c *Client) Denied(id int, words string) {
	c.t.Helper()
	line := c.Answer(id)
	c.Says(line, `"isError":true`)
	c.Says(line, words)
}
