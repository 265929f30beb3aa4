package main

import (
	"context"
	"net"
)

// role is one of the servers that are compared.
type role struct {
	name   string // as -only takes it
	title  string // as the table shows it
	target float64
	redis  bool // it talks to Redis
	open   func(place) (running, error)
}

// roles are measured and shown in this order; the first is the unit.
var roles = []role{
	{name: "constant", title: "constant net/http handler", open: openConstant},
	{name: "strict", title: "echo + HMAC + strict decode", open: openStrict},
	{name: "get", title: "our server, one plain GET instead of a decision", redis: true, open: openGet},
	{name: "redis", title: "ours with Redis", target: 0.30, redis: true, open: openRedis},
	{name: "embedded", title: "ours embedded (SQLite)", target: 0.22, open: openEmbedded},
	{name: "pages", title: "the same, 500 questions open and 50 pages", open: openWatched},
}

// place is where a server finds what it needs.
type place struct {
	dir   string // its own, empty
	redis string // host:port
	count *trips
}

// running is a server that is ready to serve.
type running struct {
	serve func(net.Listener) error
	close func() error
	tend  func(context.Context) // what runs beside it; may be nil
}

// secret signs the calls. It guards nothing: the servers live for one run.
const secret = "bench-only-secret-that-guards-nothing-0123456789"

// The exact answer of an allow, as ours writes it.
const allowBody = `{"decision":"allow","reason":""}`
