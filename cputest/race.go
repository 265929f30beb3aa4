//go:build race

package cputest

// slower is what the race detector makes of a function that allocates and compares, at most.
const slower = 10
