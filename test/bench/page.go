package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
)

// publish puts what was printed into a page of the documentation, between the two marks of its section and in place of
// what stood there.
func publish(page, section, text string) error {
	if page == "" {
		return nil
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	marks := regexp.MustCompile("(?s)(<!-- " + section + " -->\n).*(<!-- end of " + section + " -->\n)")
	at := marks.FindSubmatchIndex(old)
	if at == nil {
		return fmt.Errorf("%s has no place for what was measured: %q", page, marks)
	}
	return os.WriteFile(page, slices.Concat(old[:at[3]], []byte("```text\n"+text+"```\n"), old[at[4]:]), 0o644)
}
