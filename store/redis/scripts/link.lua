-- link: make a child share a root's state from now on, if the child is as bad as the caller thinks: the root was raised to
-- that before. ARGV 5 the root's name, 6 how bad → 'epoch' · {root, how bad the child is}
local c = read()
if c and c.root then return { c.root, ARGV[6] } end
c = c or birth()
if not c then return 'epoch' end
if c.w ~= tonumber(ARGV[6]) then return { ARGV[5], c.w } end
c.root = ARGV[5]
call('HSET', KEYS[1], 'root', c.root)
save(c)
return { c.root, c.w }
