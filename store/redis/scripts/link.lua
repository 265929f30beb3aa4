-- link: make a child share a root's state from now on.
-- ARGV 5 the root's name → 'epoch' · {root, what the child had been seen at}
local c = read()
if c and c.root then return { c.root, 0 } end
c = c or birth()
if not c then return 'epoch' end
local before = c.w
c.root = ARGV[5]
call('HSET', KEYS[1], 'root', c.root)
save(c)
return { c.root, before }
