-- place: put a new card up.
-- KEYS 1 state, 2 questions, 3 open cards of the bucket, 4 card
-- ARGV 1 id, 2 conversation, 3 blob, 4 live, 5 max open, 6 batch, 7 retention, 8 the card it stands in for, 9… digests
-- → 'unknown' · {outcome, id, until}
local FULL, NEW, SHARED = 0, 1, 2
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end

for i = 9, #ARGV do
  local q = redis.call('HGET', KEYS[2], ARGV[i])
  if q then
    local till, card_till, card = string.match(q, '^(%d+):(%d+):(.*)$')
    if tonumber(till) > now and card ~= ARGV[8] then return { SHARED, card, card_till } end
  end
end

redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local open, batch, batch_until = 0, '', '0'
local live = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
for i = 1, #live, 2 do
  local kind, conversation, id = string.match(live[i], '^%d+:(%a):(%x*):(.*)$')
  if conversation == ARGV[2] then
    if kind == 'b' then batch, batch_until = id, live[i + 1] else open = open + 1 end
  end
end
local is_batch = ARGV[6] == '1'
if is_batch and batch ~= '' or not is_batch and open >= tonumber(ARGV[5]) then
  return { FULL, batch, string.format('%.0f', tonumber(batch_until)) }
end

local till = now + ARGV[4]
local keep = till + ARGV[7]
local member = string.format('%.0f%03d', now, time[2] % 1000) .. (is_batch and ':b:' or ':c:') .. ARGV[2] .. ':' .. ARGV[1]
redis.call('HSET', KEYS[4], 'v', 1, 'b', ARGV[3], 'u', till, 'k', keep, 'm', member)
redis.call('PEXPIREAT', KEYS[4], keep)
redis.call('ZADD', KEYS[3], till, member)
for i = 9, #ARGV do redis.call('HSET', KEYS[2], ARGV[i], till .. ':' .. till .. ':' .. ARGV[1]) end
redis.call('PEXPIRE', KEYS[2], 2592000000)
return { NEW, ARGV[1], till .. '' }
