-- code: claim a code for a card. The value is the card's id and when it was claimed.
-- KEYS 1 code · ARGV 1 id, 2 life, 3 an older claim that may be replaced ('' for none) → the claim that holds
local old = redis.call('GET', KEYS[1])
if old and old ~= ARGV[3] then return { old, now } end
local claim = ARGV[1] .. ' ' .. now
redis.call('SET', KEYS[1], claim, 'PX', ARGV[2])
return { claim, now }
