-- lease: take it or keep it. KEYS 1 lease · ARGV 1 owner, 2 life, 0 to give it up → 1 if the owner has it now
local till, owner = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):(.*)$')
local taken = till and tonumber(till) > now
if taken and owner ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
  return 0
end
till = now + ARGV[2]
redis.call('SET', KEYS[1], till .. ':' .. ARGV[1], 'PXAT', till)
return 1
