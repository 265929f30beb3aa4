-- swap: replace a card that still has the version that was read, with all effects or none, and wake who waits.
-- KEYS 1 state, 2 questions, 3 open cards of the bucket, 4 card, 5 grants, 6 grants of the bucket by their end
-- ARGV 1 id, 2 version, 3 blob, 4 not after (0: no limit), 5 closed, 6 retention, 7 channel, 8 how many grants,
-- 9 conversation, 10… field, value of each, then digest, until of each question
local k = redis.call('HMGET', KEYS[4], 'v', 'u', 'k', 'm')
if not k[1] or tonumber(k[3]) <= now then return 'gone' end
if k[1] ~= ARGV[2] then return 'stale' end
local limit = tonumber(ARGV[4])
if limit ~= 0 and now > limit then return 'late' end
if #ARGV > 9 and redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end

redis.call('HSET', KEYS[4], 'v', k[1] + 1, 'b', ARGV[3])
if ARGV[5] == '1' then redis.call('ZREM', KEYS[3], k[4]) end

-- A grant's value begins with the second in which it ends: what ended is swept before it piles up.
local function ending(value)
  local second = string.match(value, '^(%d+)|')
  return second and second * 1000
end
local questions = 10 + 2 * ARGV[8]
for i = 10, questions - 1, 2 do
  redis.call('HSET', KEYS[5], ARGV[i], ARGV[i + 1])
  local ends = ending(ARGV[i + 1])
  if ends then redis.call('ZADD', KEYS[6], ends, ARGV[9] .. ':' .. ARGV[i]) end
end
if questions > 10 then
  redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', now)
  if redis.call('HLEN', KEYS[5]) > 32 then
    local all = redis.call('HGETALL', KEYS[5])
    for i = 1, #all, 2 do
      local ends = ending(all[i + 1])
      if ends and ends <= now then redis.call('HDEL', KEYS[5], all[i]) end
    end
  end
  redis.call('PEXPIRE', KEYS[5], 2592000000)
end

local keep = tonumber(k[3])
for i = questions, #ARGV, 2 do
  local till = tonumber(ARGV[i + 1])
  if till > now then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1] .. ':' .. k[2] .. ':' .. ARGV[1])
  else
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
  keep = math.max(keep, till + ARGV[6])
end
if questions <= #ARGV then
  redis.call('HSET', KEYS[4], 'k', keep)
  redis.call('PEXPIREAT', KEYS[4], keep)
  redis.call('PEXPIRE', KEYS[2], 2592000000)
end
redis.call('PUBLISH', ARGV[7], ARGV[1])
return 'ok'
