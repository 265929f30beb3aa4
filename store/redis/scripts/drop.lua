-- drop: give a claimed code back, if the claim still holds. KEYS 1 code · ARGV 1 claim
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'ok'
