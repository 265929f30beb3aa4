-- spend: note one more question of an agent, if it has asked fewer than so many within the window. Its value is when it
-- asked, oldest first, then | and when it was last told that it may not.
-- KEYS 1 questions · ARGV 1 agent, 2 most, 3 window → {1 or 0, when there is room again, 1 if it was not told within the window}
local most, window = tonumber(ARGV[2]), tonumber(ARGV[3])

local times, told = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^([%d ]*)|?(%d*)$')
local asked = {}
for at in string.gmatch(times or '', '%d+') do
  if tonumber(at) + window > now then asked[#asked + 1] = at end
end
local room, first = now, 0
local ok = #asked < most and 1 or 0
if ok == 1 then
  asked[#asked + 1] = string.format('%.0f', now)
else
  room = (asked[#asked - most + 1] or now) + window -- with that one gone, there is room
  if (tonumber(told) or -window) + window <= now then told, first = string.format('%.0f', now), 1 end
end
redis.call('HSET', KEYS[1], ARGV[1], table.concat(asked, ' ') .. '|' .. (told or ''))
redis.call('PEXPIRE', KEYS[1], window)

-- Whoever has not asked for a window is forgotten before such pile up.
if redis.call('HLEN', KEYS[1]) > 256 then
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    local last = tonumber(string.match(all[i + 1], '(%d+)|') or 0)
    if last + window <= now then redis.call('HDEL', KEYS[1], all[i]) end
  end
end
return { ok, string.format('%.0f', room), first }
