-- deny: keep a request as denied, unless it has a decision, or its conversation is gone. It needs nothing of state.lua: a pause
-- may end thousands of held calls at once.
-- KEYS 1 request, 2 state · ARGV 1 body, 2 keep → whether it was kept
local call = redis.call
local r = call('GET', KEYS[1])
if r then
  local colon = string.find(r, ':', 1, true)
  if tonumber(string.sub(r, 1, colon - 1)) > now and string.sub(r, colon + 1) ~= ARGV[1] .. 'P' then return 0 end
end
if call('HEXISTS', KEYS[2], 'h') == 0 then return 0 end
call('SET', KEYS[1], string.format('%d:', now + ARGV[2]) .. ARGV[1] .. 'D', 'PX', ARGV[2])
return 1
