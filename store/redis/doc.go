// Package redis keeps records in Redis: one node, Sentinel or Cluster. Any number of verifier processes may share it. What the records
// mean is said in package store.
//
// A commit is one script, so it happens whole or not at all, and those who come at the same moment share a trip. The clock is Redis'
// own, and never earlier than what was seen of it before; every record also says itself when it ends, so that a key which outlives its
// time is not believed. Nothing waits longer than half a second, no trip is made twice, and a Redis that is down, hung, full or
// read-only is an error each time until it is not: there is no state in this process that would need a restart.
//
// The package refuses to guess: it decides nothing, holds no key and checks no seal.
//
// # Keys
//
// b is the bucket, two hex digits. All keys with one {b} share a slot. Times are Unix milliseconds.
//
//	key            type    value
//	v3:{b}:<name>  string  a record: its version (8 bytes), when it ends (0: never), a colon, its data
//	v3:{b}:n:<…>   string  a counter
//	v3:{b}:known   set     every conversation that ever was
//	v3:{b}:j:<…>   list    until:entry
//	v3:wake        channel what commits announce
package redis
