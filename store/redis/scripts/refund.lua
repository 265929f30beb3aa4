-- refund: take back the last question of an agent that was noted. KEYS 1 questions · ARGV 1 agent
local times, told = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^([%d ]*)(|?%d*)$')
if times then redis.call('HSET', KEYS[1], ARGV[1], string.gsub(times, ' ?%d+$', '') .. told) end
return 'ok'
