-- hear: take in what an event tells of a conversation. It counts no step and makes nothing better.
-- KEYS 6 request, 7 run, 8 grants of the bucket by their end · ARGV 5 digits (start raise birth, by a tool), 6 body, 7 keep, 8 source, 9 next session id, 10 mark of a run that
-- is over, 11 mark of a session that is over, 12 calls of the run from now on, 13 a secret that came in; '' each where there is none
-- → 'epoch' · {'moved', root, now} · {'conflict', now} · {a view, known}
local byte, digits = string.byte, ARGV[5]
local start, to, least = byte(digits, 1) == 49, byte(digits, 2) - 48, byte(digits, 3) - 48
local brings = start or to > 0 or ARGV[13] ~= ''

local c = read()
if c and c.root then return { 'moved', c.root, now } end
local body, mark = recall(KEYS[6])
if body and body ~= ARGV[6] then return { 'conflict', now } end
local known = c and (sid == '' or c.own)
local met = c
c = c or birth()
if not c then return 'epoch' end
local v = { replayed = body and 1 or 0, lost = c.bad and 1 or 0, level = level(c) }

if not body then
  call('SET', KEYS[6], request(ARGV[6], 'D', ARGV[7]), 'PX', ARGV[7])
  if ARGV[12] ~= '' then call('SET', KEYS[7], ARGV[12], 'PX', 86400000) end
end
if body or not met and not brings then
  if not met then c.v = 0 end -- it has not come into being
  return { view(c, v, 0), known and 1 or 0 }
end

if brings then
  local raised = to
  if not known then to = max(to, least) end
  say(c, sid, to, ARGV[8], byte(digits, 4) ~= 49 or to > raised)
  if to > level(c) then blame(c, to, ARGV[8]) end
  raise(c, to)
end
expose(c, sid, ARGV[13])
if ARGV[9] ~= '' and level(c) > 0 then
  local next = 'l:' .. ARGV[9]
  local had = ARGV[9] == sid and c.own or call('HGET', KEYS[1], next)
  if not had or level(c) > tonumber(had) then
    call('HSET', KEYS[1], next, level(c))
    explain(c, ARGV[9], level(c))
    c.w, c.v = max(c.w, level(c)), c.v + 1
    if ARGV[9] == sid then c.own = level(c) end
  end
end
if ARGV[9] ~= '' then expose(c, ARGV[9], secret(c)) end
local ended = 0
for at, over in pairs({ [1] = ARGV[11], [17] = ARGV[10] }) do
  if over ~= '' then
    for _, field in ipairs(call('HKEYS', KEYS[4])) do
      if string.sub(field, at, at + 15) == over then
        ended = ended + call('HDEL', KEYS[4], field)
        call('ZREM', KEYS[8], ARGV[2] .. ':' .. field)
      end
    end
  end
end
if ended > 0 and not c.new then c.v = c.v + 1 end -- what was judged with one of them is stale
save(c)
return { view(c, v, 0), known and 1 or 0 }
