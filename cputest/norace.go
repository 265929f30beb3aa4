//go:build !race

package cputest

const slower = 1
