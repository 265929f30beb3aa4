-- commit: all or nothing, over documents of one slot. The first 8 bytes of a document are its version.
-- KEYS the documents
-- ARGV 1 by when (Unix milliseconds), 2 channel, 3 what to publish or '', then the version of each document ('': none), then for each
--   write the number of its key, its value, and for how many milliseconds (0: for good)
-- → {1 if too late, else 0; now; then number and value of each that has another version}
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local reply = { now > tonumber(ARGV[1]) and 1 or 0, now }
for i, is in ipairs(redis.call('MGET', unpack(KEYS))) do
  is = is or ''
  if string.sub(is, 1, 8) ~= ARGV[3 + i] then
    reply[#reply + 1], reply[#reply + 2] = i, is
  end
end
if reply[1] == 1 or #reply > 2 then return reply end
for i = 4 + #KEYS, #ARGV, 3 do
  local key, value, keep = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2]
  if keep == '0' then redis.call('SET', key, value) else redis.call('SET', key, value, 'PX', keep) end
end
if ARGV[3] ~= '' then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return reply
