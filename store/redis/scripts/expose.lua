-- expose: note that a conversation knows a secret, for every session id. ARGV 4 is '', 5 the secret
-- → 'epoch' · 'ok'
local c = read() or birth()
if not c then return 'epoch' end
expose(c, '', ARGV[5])
save(c)
return 'ok'
