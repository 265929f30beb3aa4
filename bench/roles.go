package main

import (
	"context"
	"net"
	"time"
)

// role is one of the servers that are compared.
type role struct {
	name   string // as -only takes it
	title  string // as the table shows it
	target float64
	times  float64 // ours with Redis must be this many times as fast
	beside string  // a role that is measured, too, where -only names this one
	redis  bool    // it talks to Redis

	conversations int // over which its calls are spread; 0: the usual number
	open          func(place) (running, error)
}

// roles are measured and shown in this order; the first is the unit.
var roles = []role{
	{name: "constant", title: "constant net/http handler", open: openConstant},
	{name: "strict", title: "net/http + HMAC + strict decode", open: openStrict},
	{name: "get", title: "our server, one plain GET instead of a decision", redis: true, open: openGet},
	{name: "redis", title: "ours with Redis", target: 0.18, redis: true, open: openRedis(0)},
	{name: "embedded", title: "ours embedded (SQLite)", target: 0.15, open: openEmbedded},
	{name: "opa", title: "OPA's server, the policy alone", times: 1.2, open: openOther("opa")},
}

// place is where a server finds what it needs.
type place struct {
	dir    string // its own, empty
	redis  string // host:port
	others string // where the servers of others are
	count  *trips
}

// running is a server that is ready to serve.
type running struct {
	serve func(net.Listener) error
	close func() error
	tend  func(context.Context) // what runs beside it; may be nil
	asked func() int64          // how many questions it has put to people; nil where it does not matter

	address string               // of a process of its own; empty: serve is called
	cpu     func() time.Duration // what that has used; nil: this process
}

// secret signs the calls, ownerToken answers for the owner. They guard nothing:
// the servers live for one run.
const (
	secret     = "bench-only-secret-that-guards-nothing-0123456789"
	ownerToken = "bench-only-token-that-guards-nothing-0123456789"
)

// The exact answer of an allow, as ours writes it.
const allowBody = `{"decision":"allow","reason":""}`
