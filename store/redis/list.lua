-- list: add to a list and forget what is too old or too much, or only read it.
-- KEYS 1 list · ARGV 1 the earliest that it can be, 2 most, 3 life, 4… entries; with no entries it reads
-- → entries that are not over
local t = redis.call('TIME')
local now = math.max(t[1] * 1000 + math.floor(t[2] / 1000), tonumber(ARGV[1]))
if #ARGV > 3 then
  for i = 4, #ARGV do redis.call('RPUSH', KEYS[1], string.format('%.0f:', now + ARGV[3]) .. ARGV[i]) end
  redis.call('LTRIM', KEYS[1], -ARGV[2], -1)
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
  return {}
end
local live = {}
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local colon = string.find(entry, ':', 1, true)
  if tonumber(string.sub(entry, 1, colon - 1)) > now then live[#live + 1] = string.sub(entry, colon + 1) end
end
return live
