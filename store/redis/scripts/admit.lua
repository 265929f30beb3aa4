-- admit: one call enters its conversation.
-- KEYS 6 request, 7 pauses, 8 run if its calls are counted · ARGV, as arguments.lua gives them: 5 digits first (initial birth
-- floor raise final, six modes, paused, note, counted, leaves), 6 floor's generation, 7 body, 8 standing, 9 keep, 10 run cap, 11 sender,
-- 12 source, 13 digest, 14 pause of all, 15 agent, 16 its pause, 17… grant fields
-- → 'epoch' · {'braked', of all, of the agent} · {'moved', root, now} · {'conflict', now} · a view
-- · {a view, standing, ''} · {a view, '', waiting, secret, grants…}
local HELD, PASSED, REFUSED, ALLOW, CONFIRM, RESTRICT, HALTED = 0, 1, 2, 0, 1, 2, 1073741824
local digits = ARGV[5]
local initial, final = byte(digits, 1) - 48, byte(digits, 5) == 49

-- consents is a held call's answer: what could still let it pass.
local function consents(c, view)
  local reply = { view, '', '', secret(c) }
  local q = call('HGET', KEYS[5], ARGV[13])
  if q then
    local till, card = string.match(q, '^(%d+):%d+:(.*)$')
    if tonumber(till) > now then reply[3] = card end
  end
  if #ARGV < 17 then return reply end
  for _, grant in ipairs(call('HMGET', KEYS[4], unpack(ARGV, 17))) do
    if grant then reply[#reply + 1] = grant end
  end
  return reply
end

-- count makes a call of a run stricter that has made so many calls with it, see session.Admission.Counted.
local cap = tonumber(ARGV[10])
local function calls() return cap > 0 and tonumber(call('GET', KEYS[8]) or 0) or 0 end
local function count(v, calls)
  if cap == 0 or calls <= cap and calls < HALTED then return end
  v.capped, v.mode = 1, max(v.mode, calls >= HALTED and RESTRICT or CONFIRM)
end

-- again answers a request that was admitted before; nothing is counted twice.
local function again(body, mark)
  if body ~= ARGV[7] then return { 'conflict', now } end
  local c = read()
  if not c then return lost(1, byte(digits, 6 + UNTRUSTED) - 48) end
  local v = { replayed = 1, mode = byte(digits, 6 + level(c)) - 48 }
  if mark == 'P' then
    count(v, calls())
    return consents(c, view(c, v, HELD))
  end
  return { view(c, v, mark == 'D' and REFUSED or PASSED), mark, '' }
end

local stop = braked(KEYS[7], ARGV[14], ARGV[15], ARGV[16])
if stop then return stop end
local c = read()
if c and c.root then return { 'moved', c.root, now } end
c = c or birth()
if not c then return 'epoch' end

local v = { lost = c.bad and 1 or 0 }
local own = max(c.own or 0, initial)
if c.n == 0 then own = max(own, byte(digits, 2) - 48) end
if tonumber(ARGV[6]) >= c.g and byte(digits, 3) - 48 > level(c) then own = max(own, byte(digits, 3) - 48) end
if v.lost == 1 then own = UNTRUSTED end
c.n = c.n + 1
if initial > level(c) then blame(c, initial, ARGV[11]) end
local note = byte(digits, 13) == 49 or tonumber(ARGV[6]) ~= c.g
if note or initial > (c.own or 0) then say(c, sid, initial, ARGV[11], true) end
if raise(c, own) then explain(c, sid, c.own) end
v.level = level(c)
v.mode = byte(digits, 6 + v.level) - 48

count(v, calls() + 1)
if byte(digits, 12) == 49 then v.mode = RESTRICT end

local entry, mark = HELD, 'P'
if v.mode == RESTRICT then
  entry, mark = REFUSED, 'D'
elseif v.mode == ALLOW and final and (byte(digits, 15) ~= 49 or secret(c) == '' and c.g == 0) then
  entry, mark = PASSED, ARGV[8]
  local brings = byte(digits, 4) - 48
  if note or brings > (c.own or 0) then say(c, sid, brings, ARGV[12], false) end
  bring_in(c, brings, ARGV[12])
end

local value = request(ARGV[7], mark, ARGV[9])
if not call('SET', KEYS[6], value, 'NX', 'PX', ARGV[9]) then
  local body, old = recall(KEYS[6])
  if body then return again(body, old) end
  call('SET', KEYS[6], value, 'PX', ARGV[9])
end
if cap > 0 then
  call('INCR', KEYS[8])
  call('PEXPIRE', KEYS[8], 86400000)
end
save(c)
if entry == HELD and (not c.new or c.bad) then return consents(c, view(c, v, HELD)) end
return view(c, v, entry)
