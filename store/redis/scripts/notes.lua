-- notes: what a list holds that is not over. KEYS 1 list → entries
local live = {}
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local colon = string.find(entry, ':', 1, true)
  local till = colon and tonumber(string.sub(entry, 1, colon - 1))
  if till and till > now then live[#live + 1] = string.sub(entry, colon + 1) end
end
return live
