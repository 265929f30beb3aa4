-- raise: make a conversation at least this bad for every session id. ARGV 4 is '', 5 the level, 6 the source
-- → 'epoch' · 'ok'
local c = read() or birth()
if not c then return 'epoch' end
local to = tonumber(ARGV[5])
if to > c.w then blame(c, to, ARGV[6]) end
say(c, '', to, ARGV[6], true)
raise(c, to)
save(c)
return 'ok'
