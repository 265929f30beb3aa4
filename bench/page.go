package main

import (
	"bytes"
	"fmt"
	"os"
)

// publish puts what was printed into a page of the documentation, between the
// two marks of its section and in place of what stood there.
func (o *options) publish(section, text string) error {
	if o.page == "" {
		return nil
	}
	page, err := os.ReadFile(o.page)
	if err != nil {
		return err
	}
	begin, end := []byte("<!-- "+section+" -->\n"), []byte("<!-- end of "+section+" -->\n")
	head, rest, found := bytes.Cut(page, begin)
	_, tail, ended := bytes.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for what was measured: %q and %q are missing", o.page, begin, end)
	}
	block := []byte("```text\n" + text + "```\n")
	return os.WriteFile(o.page, bytes.Join([][]byte{head, begin, block, end, tail}, nil), 0o644)
}
