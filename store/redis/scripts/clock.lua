-- clock: what time it is; it stands before each script that needs to know. Redis' own clock may be set back, or be another
-- server's after a failover: the last argument is the earliest that it can be by what the caller has seen, and it is taken off.
local floor = tonumber(table.remove(ARGV))
local time = redis.call('TIME')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), floor)
