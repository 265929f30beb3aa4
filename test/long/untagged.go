//go:build !long

package long

const tagged = false
