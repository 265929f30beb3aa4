-- miss: count a wrong try within the window that the first one opened. KEYS 1 tries · ARGV 1 window, 2 count → tries
local till, n = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):(%d+)$')
if not till or tonumber(till) <= now then till, n = now + ARGV[1], 0 end
if ARGV[2] == '1' then
  n = n + 1
  redis.call('SET', KEYS[1], till .. ':' .. n, 'PXAT', till)
end
return tonumber(n)
