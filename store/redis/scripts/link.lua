-- link: make a child share a root's state from now on, if the child is as bad as the caller thinks: the root was raised to
-- that before, and knows its secret. ARGV 5 the root's name, 6 how bad, 7 the secret → 'epoch' · {root, how bad the child is, its secret}
local c = read()
if c and c.root then return { c.root, ARGV[6], ARGV[7] } end
c = c or birth()
if not c then return 'epoch' end
local known = secret(c)
if c.w ~= tonumber(ARGV[6]) or known ~= ARGV[7] then return { ARGV[5], c.w, known } end
c.root = ARGV[5]
call('HSET', KEYS[1], 'root', c.root)
save(c)
return { c.root, c.w, known }
