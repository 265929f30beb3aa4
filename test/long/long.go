// Package long tells the tests that only make test-long runs from those of make test.
package long

import "testing"

// Only leaves a test out of make test: it needs a real Redis, a browser, kill -9, or many seconds. The build tag long,
// with which make test-long and the continuous integration run, has it in.
func Only(t testing.TB, needs string) {
	t.Helper()
	if !tagged {
		t.Skip(needs + ": make test-long runs it")
	}
}
