-- keeptime: keep the latest time that anyone has seen. KEYS 1 time → that time
now = math.max(now, tonumber(redis.call('GET', KEYS[1])) or 0)
redis.call('SET', KEYS[1], string.format('%.0f', now))
return now
