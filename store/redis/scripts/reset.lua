-- reset: forget a conversation's level and end its grants. → false, or its name
-- KEYS 6 grants of the bucket by their end
local c = read()
if not c then return false end
local name, counted = call('HGET', KEYS[1], 'name'), call('HGET', KEYS[1], 'on')
for _, field in ipairs(call('HKEYS', KEYS[4])) do call('ZREM', KEYS[6], ARGV[2] .. ':' .. field) end
call('DEL', KEYS[1], KEYS[4])
c.v, c.w, c.g, c.touched, c.source = c.v + 1, 0, max(now, c.g + 1), now, ''
call('HSET', KEYS[1], 'name', name, 'h', head(c))
if counted then call('HSET', KEYS[1], 'on', counted) end
if c.root then call('HSET', KEYS[1], 'root', c.root) end
call('PEXPIRE', KEYS[1], MONTH)
return name
