-- settle: commit an allow that a rule over history, a grant or a person gave.
-- KEYS 6 request, 7 claimed card, 8 pauses · ARGV 5 body, 6 version, 7 raise, 8 source, 9 standing, 10 keep,
-- 11 the card's version (0: no claim), 12 its new blob, 13 pause of all, 14 agent, 15 its pause, 16 the secret that it reads
-- → {'braked', of all, of the agent} · {outcome, a view, standing} · {stale, a view, '', secret}
local STALE, DONE, DECIDED, TAKEN = 0, 1, 2, 3
local stop = braked(KEYS[8], ARGV[13], ARGV[14], ARGV[15])
if stop then return stop end
local c = read()
-- gone, or it lives elsewhere since it was judged
if not c or c.root then return { STALE, lost(0, 0), '' } end

local body, mark = recall(KEYS[6])
if body and body ~= ARGV[5] then mark = 'D' end
if body and mark ~= 'P' then return { DECIDED, view(c, {}, 0), mark } end

local v = { level = level(c) }
if c.v ~= tonumber(ARGV[6]) then return { STALE, view(c, v, 0), '', secret(c) } end
if ARGV[11] ~= '0' then
  local k = call('HMGET', KEYS[7], 'v', 'k')
  if k[1] ~= ARGV[11] or tonumber(k[2]) <= now then return { TAKEN, view(c, v, 0), '' } end
  call('HSET', KEYS[7], 'v', k[1] + 1, 'b', ARGV[12])
end
say(c, sid, tonumber(ARGV[7]), ARGV[8], false)
bring_in(c, tonumber(ARGV[7]), ARGV[8])
expose(c, sid, ARGV[16])
save(c)
call('SET', KEYS[6], request(ARGV[5], ARGV[9], ARGV[10]), 'PX', ARGV[10])
return { DONE, view(c, v, 0), '' }
