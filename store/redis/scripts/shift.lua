-- shift: move the end of a value back that begins with it. KEYS 1 request, tries or lease · ARGV 1 by how much
local value = redis.call('GET', KEYS[1])
local till, rest = string.match(value or '', '^(%d+)(:.*)$')
if not till then return 'none' end
till = till - ARGV[1]
if till <= now then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.format('%.0f', till) .. rest, 'PXAT', string.format('%.0f', till))
end
return 'ok'
