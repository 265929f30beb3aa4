//go:build !race

package main

import "time"

// soon is the median time from a tap in a chat to the answer of the held request
// that is promised. `make bench` asks for it.
const soon = 50 * time.Millisecond
