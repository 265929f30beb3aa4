-- steady: the call that changes nothing but the count, which nearly every call is: the conversation and the session id are
-- known, nothing gets worse by it, nobody is paused, the level allows it. It does what admit.lua does for it, without what others need;
-- all else breaks out of it and is left to admit.lua, which stands behind it.
repeat
  if session == '' or byte(said, 14) == 49 or byte(said, 5) ~= 49 or byte(said, 13) == 49 then break end
  local call = redis.call
  local f = call('HMGET', KEYS[1], 'h', 'l:', 'l:' .. session, 's:', 's:' .. session)
  if not f[1] or not f[3] or byte(said, 15) == 49 and (f[4] or f[5] or generation ~= '0') then break end
  local own, shared = byte(f[3]), f[2] and byte(f[2]) or 48
  local level, initial, _, floor, raise = math.max(own, shared), byte(said, 1, 4)
  if initial > own or floor > level or raise > own or byte(said, level - 42) ~= 48 then break end

  local paused = call('HMGET', KEYS[7], '*', agent)
  if byte(said, 12) ~= 48 or (paused[1] or '') ~= all_paused or (paused[2] or '') ~= agent_paused then break end

  local before, n, between, at_generation, touched, worst = string.match(f[1], '^(0 %d+ )(%d+)( %d (%d+) )(%d+)( .*)$')
  if not n or n == '0' or at_generation ~= generation or now - touched >= 3600000 then break end
  if not call('SET', KEYS[6], now + keep .. ':' .. allowed, 'NX', 'PX', keep) then break end
  n, level = n + 1, string.char(level)
  if raise > 48 and raise == byte(level) then worst = ' ' .. level .. ':' .. n .. ':' .. source end
  local head = before .. n .. between .. touched .. worst
  call('HSET', KEYS[1], 'h', head)
  return '10000' .. level .. level .. ' ' .. now .. ' ' .. head
until true
