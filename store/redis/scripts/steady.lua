-- steady: the call that changes nothing but the count, which nearly every call is: the conversation and the session id are
-- known, nothing gets worse by it, nobody is paused, the level allows it. It does what admit.lua does for it, without what others need;
-- all else is left to admit.lua, which stands before it as general().
local call, byte, digits = redis.call, string.byte, ARGV[5]
if ARGV[4] == '' or ARGV[10] ~= '0' or byte(digits, 5) ~= 49 or byte(digits, 13) == 49 then return general() end
local f = call('HMGET', KEYS[1], 'h', 'l:', 'l:' .. ARGV[4])
if not f[1] or not f[3] then return general() end
local own, shared = byte(f[3]), f[2] and byte(f[2]) or 48
local level, initial, _, floor, raise = math.max(own, shared), byte(digits, 1, 4)
if initial > own or floor > level or raise > own or byte(digits, level - 42) ~= 48 then return general() end

local paused = call('HMGET', KEYS[8], '*', ARGV[15])
if byte(digits, 12) ~= 48 or (paused[1] or '') ~= ARGV[14] or (paused[2] or '') ~= ARGV[16] then return general() end

local before, n, between, generation, touched, source = string.match(f[1], '^(0 %d+ )(%d+)( %d (%d+) )(%d+)( .*)$')
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not n or n == '0' or generation ~= ARGV[6] or now - touched >= 3600000 then return general() end
if not call('SET', KEYS[6], now + ARGV[9] .. ':' .. ARGV[7] .. ARGV[8], 'NX', 'PX', ARGV[9]) then return general() end
n, level = n + 1, string.char(level)
if raise > 48 and raise == byte(level) then source = ' ' .. level .. ':' .. n .. ':' .. ARGV[12] end
local head = before .. n .. between .. touched .. source
call('HSET', KEYS[1], 'h', head)
return '10000' .. level .. level .. ' ' .. now .. ' ' .. head
