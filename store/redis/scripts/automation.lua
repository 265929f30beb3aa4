-- automation: look at an agent's floor, or make it worse. KEYS 1 floor, 2 epoch · ARGV 1 epoch id, 2 level or ''
-- → 'epoch' · level
local floor = redis.call('GET', KEYS[1])
local to = ARGV[2]
if not floor then
  local marker = redis.call('GET', KEYS[2])
  if marker and string.sub(marker, 1, 2) == 'l:' then
    floor = 5
  elseif marker ~= 'c:' .. ARGV[1] and marker ~= 'a:' .. ARGV[1] then
    return 'epoch'
  end
end
floor = tonumber(floor or 0)
if to ~= '' then
  floor = math.max(floor, tonumber(to))
  redis.call('SET', KEYS[1], floor)
end
return floor
