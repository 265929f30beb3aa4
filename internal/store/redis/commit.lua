-- commit: all or nothing, over documents of one slot. A document is its version (8 bytes) and its data.
-- KEYS those that are read, then those that are only written
-- ARGV 1 how many are read, 2 by when (Unix milliseconds), 3 channel, 4 what to publish or '', then the version of each that is read
--   ('': absent), then for each write the number of its key, its value, and for how many milliseconds (0: for good)
-- → {1 if too late, else 0; now; then number and value of each that has another version}
local t = redis.call('TIME')
local now, read = t[1] * 1000 + math.floor(t[2] / 1000), tonumber(ARGV[1])
local reply = { now > tonumber(ARGV[2]) and 1 or 0, now }
if read > 0 then
  for i, is in ipairs(redis.call('MGET', unpack(KEYS, 1, read))) do
    is = is or ''
    if string.sub(is, 1, 8) ~= ARGV[4 + i] then
      reply[#reply + 1], reply[#reply + 2] = i, is
    end
  end
end
if reply[1] == 1 or #reply > 2 then return reply end
for i = 5 + read, #ARGV, 3 do
  local key, value, keep = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2]
  if keep == '0' then redis.call('SET', key, value) else redis.call('SET', key, value, 'PX', keep) end
end
if ARGV[4] ~= '' then redis.call('PUBLISH', ARGV[3], ARGV[4]) end
return reply
