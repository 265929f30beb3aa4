// Package redis keeps conversations and cards in Redis: one node, Sentinel or
// Cluster. Any number of verifier processes may share it.
//
// Every method that changes something is one script, so it happens whole or not
// at all, and Admit is exactly one round trip. The clock is Redis' own, and never
// earlier than what was seen of it before (see clock.go); every life also stands in
// the value, so that a key which outlives its time is not believed. Nothing waits longer than half a second, nothing is tried twice, and
// a Redis that is down, hung, full or read-only is an error each time until it
// is not: there is no state in this process that would need a restart.
//
// The package refuses to guess: it decides nothing about trust beyond what
// storetest's model says, holds no key and checks no seal, and it never takes an
// empty Redis for a new one when this machine remembers another (see epoch.go).
//
// # Keys
//
// b is the bucket, two hex digits: the first byte of the conversation's hash. All
// keys with one {b} share a slot. c is the conversation's hash. Times are Unix
// milliseconds unless said otherwise.
//
//	key              type    value                                               life
//	v1:{b}:epoch     string  c:<id> clean, l:<id> lost, a:<id> loss accepted     for ever
//	v1:{b}:known     set     every c that ever was                               for ever
//	v1:{b}:s:c       hash    h linked (0 or 1), version, step, worst level,      30 days, touched hourly
//	                         reset at, touched at, source as level:step:label
//	                         l: level of what came without a session id
//	                         l:<session id> its own level · name · root if linked
//	                         o:<session id> who had a say, one a line · on how
//	                         many there ever were
//	v1:{b}:g:c       hash    grant field → sealed grant                          30 days
//	v1:{b}:granted   zset    c:grant field, by when it ends                      swept at each grant
//	v1:{b}:q:c       hash    digest → until:card's until:card id                 30 days
//	v1:{b}:r:c:<id>  string  until:body hash, mark: a request                    Admission.Keep
//	v1:{b}:n:c:<run> string  calls of a run                                      a day after the last
//	v1:{b}:k:<card>  hash    v version · b blob · u until · k kept until         until k
//	                         m its member in open
//	v1:{b}:open      zset    placed µs:c or b (batch):c:card id, by until        swept at each placing
//	v1:{b}:j:<list>  list    until:entry, what is remembered of turns and texts  until the last is over
//	v1:{b}:pauses    hash    agent or * → sealed word, the same in every bucket  for ever
//	v1:{b}:auto:<h>  string  an agent's automation floor; b from its own hash h  for ever
//	v1:code:<seal>   string  card id, claimed at                                 life + retention + a day
//	v1:tries:<who>   string  until:count of wrong tries                          the window
//	v1:questions     hash    agent → when it asked, oldest first                 the window
//	v1:head:<name>   string  the head of a record                                for ever
//	v1:lease:<name>  string  until:owner, who alone may do something             until then
//	v1:time          string  the latest time that anyone has seen                for ever
//	v1:wake          channel ids of changed cards
//
// A code stands in a slot of its own, so that any process finds it from the code
// alone. It is claimed before its card is placed and proves nothing: without
// the card it points at, it is no code.
package redis
