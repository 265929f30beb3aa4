-- note: add to a list. KEYS 1 list · ARGV 1 most, 2 keep, 3… entries
local till = now + ARGV[2]
for i = 3, #ARGV do redis.call('RPUSH', KEYS[1], string.format('%.0f:', till) .. ARGV[i]) end
redis.call('LTRIM', KEYS[1], -ARGV[1], -1)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 'ok'
