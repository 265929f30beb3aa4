-- commit: all or nothing, over the keys of one bucket. A record is its version (8 bytes), when it ends (Unix milliseconds, 0: never),
-- a colon and its data; a counter is a number.
-- KEYS records, counters, sets · ARGV 1 how many records, 2 how many counters, 3 the earliest that it can be, 4 not after, 5 channel,
-- 6 what to announce or '', then for each record the version it must have ('' absent, '*' any), for each counter by, set (1 or 0), what
-- it must be ('' anything), cap (0 none), life, for each set a member, for each write a record's number, its value ('' removes it) and
-- when it ends
-- → {1 done or 0, now, counters…, then a number and a value for each record that is not as it must be}
local call, records, counters = redis.call, tonumber(ARGV[1]), tonumber(ARGV[2])
local t = call('TIME')
local now = math.max(t[1] * 1000 + math.floor(t[2] / 1000), tonumber(ARGV[3]))
local ok, at = now <= tonumber(ARGV[4]), 6 + records
local had = {}
for i = 1, records + counters, 1000 do -- unpack takes some thousands
  for _, value in ipairs(call('MGET', unpack(KEYS, i, math.min(i + 999, records + counters)))) do had[#had + 1] = value end
end
local reply, after = { 0, now }, {}

for i = 1, counters do
  local by, set, want, cap = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4])
  local is = tonumber(had[records + i] or 0)
  reply[2 + i] = is
  after[i] = set == '1' and tonumber(by) or is + by
  if want ~= '' and tonumber(want) ~= is or cap > 0 and after[i] > cap then ok = false end
  at = at + 5
end
for i = 1, records do
  local want, is = ARGV[6 + i], had[i] or ''
  local till = tonumber(string.match(is, '^(%d+):', 9) or 0)
  if till > 0 and till <= now then is = '' end
  if want ~= '*' and want ~= string.sub(is, 1, 8) then
    ok = false
    reply[#reply + 1], reply[#reply + 2] = i, is
  end
end
if not ok then return reply end

local from = 6 + records
for i = 1, counters do
  if ARGV[from + 1] ~= '0' or ARGV[from + 2] == '1' then
    call('SET', KEYS[records + i], string.format('%.0f', after[i]), 'PX', ARGV[from + 5])
  end
  reply[2 + i], from = after[i], from + 5
end
for i = records + counters + 1, #KEYS do
  at = at + 1
  call('SADD', KEYS[i], ARGV[at])
end
for i = at + 1, #ARGV, 3 do
  local key, value, till = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2]
  if value == '' then
    call('DEL', key)
  elseif till == '0' then
    call('SET', key, value)
  else
    call('SET', key, value, 'PXAT', till)
  end
end
if ARGV[6] ~= '' then call('PUBLISH', ARGV[5], ARGV[6]) end
reply[1] = 1
return reply
