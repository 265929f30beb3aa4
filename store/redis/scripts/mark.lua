-- mark: a bucket whose marker is missing, foreign or garbled has lost what it held. KEYS 1 epoch · ARGV 1 our id
-- → the marker that holds
local marker = redis.call('GET', KEYS[1])
local kind = marker and string.sub(marker, 1, 2)
if kind == 'l:' or kind == 'a:' or marker == 'c:' .. ARGV[1] then return marker end
redis.call('SET', KEYS[1], 'l:' .. ARGV[1])
return 'l:' .. ARGV[1]
