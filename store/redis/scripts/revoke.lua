-- revoke: end grants, those under these fields or all; what was judged with one of them is stale then. → how many
-- KEYS 6 grants of the bucket by their end · ARGV 5… fields
local fields = { unpack(ARGV, 5) }
if #fields == 0 then fields = call('HKEYS', KEYS[4]) end
local ended = 0
for _, field in ipairs(fields) do
  ended = ended + call('HDEL', KEYS[4], field)
  call('ZREM', KEYS[6], ARGV[2] .. ':' .. field)
end
local c = read()
if not c then return 0 end -- what was left of them ended with the conversation
if ended > 0 then
  c.v = c.v + 1
  save(c)
end
return ended
