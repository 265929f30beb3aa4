//go:build race

package main

import "time"

// soon is more with the race detector, which makes everything ten times slower,
// and with all other tests beside: a second would be noticed by people.
const soon = time.Second
