-- settle: commit what a rule over history, a grant or a person decided.
-- KEYS 6 request, 7 claimed card · ARGV 5 body, 6 version, 7 allow, 8 raise, 9 source, 10 standing, 11 keep,
-- 12 the card's version (0: no claim), 13 its new blob, 14 pause of all, 15 agent, 16 its pause
-- → {'braked', of all, of the agent} · {outcome, a view, standing}
local STALE, DONE, DECIDED, TAKEN = 0, 1, 2, 3
local stop = ARGV[7] == '1' and braked(ARGV[14], ARGV[15], ARGV[16])
if stop then return stop end
local c = read()
-- gone, or it lives elsewhere since it was judged
if not c or c.root and ARGV[7] == '1' then return { STALE, lost(0, 0), '' } end

local body, mark = recall(KEYS[6])
if body and body ~= ARGV[5] then mark = 'D' end
if body and mark ~= 'P' then return { DECIDED, view(c, {}, 0), mark } end

local v = { level = level(c) }
mark = 'D'
if ARGV[7] == '1' then
  if c.v ~= tonumber(ARGV[6]) then return { STALE, view(c, v, 0), '' } end
  if ARGV[12] ~= '0' then
    local k = call('HMGET', KEYS[7], 'v', 'k')
    if k[1] ~= ARGV[12] or tonumber(k[2]) <= now then return { TAKEN, view(c, v, 0), '' } end
    call('HSET', KEYS[7], 'v', k[1] + 1, 'b', ARGV[13])
  end
  say(c, sid, tonumber(ARGV[8]), ARGV[9], false)
  bring_in(c, tonumber(ARGV[8]), ARGV[9])
  save(c)
  mark = ARGV[10]
end
call('SET', KEYS[6], request(ARGV[5], mark, ARGV[11]), 'PX', ARGV[11])
return { DONE, view(c, v, 0), '' }
