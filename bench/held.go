package main

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// What is held, and what that may cost.
const (
	manyHeld     = 10_000
	shortHeld    = 1_000
	heldAtOnce   = 16 // calls that are on their way to people at a time
	maxHeldBytes = 40_000
	maxWake      = time.Second
	maxTap       = 5 * time.Millisecond
	heldTarget   = 0.9 // of the allows that pass while none is held
)

// heldRoles are the servers that hold calls: ours, ours beside it with none
// held, and the least that any server can do.
var heldRoles = []role{
	{name: "unheld", title: "ours with Redis, none held", redis: true, open: openRedis(1)},
	{name: "held", title: "ours with Redis, calls held", redis: true, open: openRedis(2)},
	{name: "wait", title: "a net/http handler that only waits", open: openWait},
}

// againRoles are servers that are started in the place of one that was stopped,
// each in a database of its own: a pause that another has sealed counts as one.
var againRoles = []role{
	{name: "held-2", title: "ours with Redis, calls held again", redis: true, open: openRedis(3)},
	{name: "held-3", title: "ours with Redis, calls held again", redis: true, open: openRedis(4)},
}

// openWait holds every call until one comes to /release.
func openWait(place) (running, error) {
	var held atomic.Int64
	release := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(release) })
	mux := http.NewServeMux()
	mux.HandleFunc("/verify", func(w http.ResponseWriter, _ *http.Request) {
		held.Add(1)
		<-release
		_, _ = w.Write([]byte(denyBody)) // a client that has gone needs no answer
	})
	mux.HandleFunc("/release", func(http.ResponseWriter, *http.Request) { letGo() })
	run := plain(mux)
	run.asked = held.Load
	return run, nil
}

// denyBody is a deny as ours writes it to a call that was held.
const denyBody = `{"decision":"deny","reason":"The owner has paused this agent. Only harmless tools run until the pause is lifted.","ref":"7Q4K"}`
