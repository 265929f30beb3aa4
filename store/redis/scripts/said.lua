-- said: what a call says of itself. It comes in one argument, for each costs both sides something; it stands before steady.lua.
-- ARGV 1: fifteen digits (initial birth floor raise final, six modes, paused, note, counted, leaves), then numbers with a space behind
-- each: the earliest that it can be, the floor's generation, keep, and how long the texts are that follow: session id, body and standing, source, pause of all,
-- agent, its pause; then, for those who need more: run cap, and how long are epoch id, sender, digest; the last is the name
-- ARGV 2… grant fields
local byte, sub, match, said = string.byte, string.sub, string.match, ARGV[1]
local earliest, generation, keep, a, b, c, d, e, f, at = match(said, '^(%d+) (%-?%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ()', 16)
local time = redis.call('TIME')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(earliest))
a = at + a
b = a + b
c = b + c
d = c + d
e = d + e
f = e + f
local session, allowed, source = sub(said, at, a - 1), sub(said, a, b - 1), sub(said, b, c - 1)
local all_paused, agent, agent_paused = sub(said, c, d - 1), sub(said, d, e - 1), sub(said, e, f - 1)
