-- state: what the scripts that touch a conversation share; it stands before each of them.
-- KEYS 1 state, 2 known, 3 epoch, 4 grants, 5 questions · ARGV 1 epoch id, 2 conversation, 3 its name, 4 session id
local call, max, format = redis.call, math.max, string.format
local sid = ARGV[4]
local MONTH, UNTRUSTED, LEAST, MOST = 2592000000, 5, 3, 32

-- read gives the conversation as this session id meets it, or nil. All that every call needs stands in one field.
local function read()
  local f = call('HMGET', KEYS[1], 'h', 'l:', 'l:' .. sid)
  if not f[1] then return nil end
  local linked, v, n, w, g, touched, source = string.match(f[1], '^(%d) (%d+) (%d+) (%d) (%d+) (%d+) (.*)$')
  return {
    v = tonumber(v), n = tonumber(n), w = tonumber(w), g = tonumber(g), touched = tonumber(touched), source = source,
    root = linked == '1' and call('HGET', KEYS[1], 'root'), shared = tonumber(f[2] or 0), own = f[3] and tonumber(f[3]),
  }
end

-- head writes that field.
local function head(c)
  return format('%d %d %d %d %d %d ', c.root and 1 or 0, c.v, c.n, c.w, c.g, c.touched) .. c.source
end

-- birth gives a new conversation, not yet saved; nil if the program must look after the epoch first.
local function birth()
  local marker = call('GET', KEYS[3])
  local flushed = marker and string.sub(marker, 1, 2) == 'l:'
  if not flushed and marker ~= 'c:' .. ARGV[1] and marker ~= 'a:' .. ARGV[1] then return nil end
  local bad = flushed or call('SISMEMBER', KEYS[2], ARGV[2]) == 1
  local c = { v = 1, n = 0, w = 0, g = 0, touched = 0, source = '', shared = 0, new = true, bad = bad }
  if bad then -- whatever session id comes: what it had read is not known any more
    c.w, c.shared = UNTRUSTED, UNTRUSTED
    if sid == '' then c.own = UNTRUSTED end
  end
  return c
end

-- level is the worse of the session id's own and of what came without one; without, the worst of all.
local function level(c)
  if sid == '' then return c.w end
  return max(c.own or 0, c.shared)
end

local function raise(c, to)
  if c.own and to <= c.own then return end
  c.own = max(c.own or 0, to)
  if sid == '' then c.shared = c.own end
  c.w = max(c.w, to)
  c.v, c.moved = c.v + 1, true
  return true
end

local function blame(c, at, label) c.source = at .. ':' .. c.n .. ':' .. label end

-- bring_in is what an allowed call does to the level.
local function bring_in(c, to, label)
  if to == 0 then return end
  if to >= level(c) then blame(c, to, label) end
  if to > (c.own or 0) then raise(c, to) end
end

-- secret is what was read here that holds secrets; see session.Exposure. expose notes it, before the conversation is saved.
local FORGOTTEN = 'something we lost track of'

local function secret(c)
  if c.new and not c.exposed then return c.bad and FORGOTTEN or '' end
  if sid == '' then return call('HGET', KEYS[1], 's:*') or '' end
  local s = call('HMGET', KEYS[1], 's:' .. sid, 's:')
  return s[1] or s[2] or ''
end

local function expose(c, id, what)
  if what == '' then return end
  if c.new and c.bad then call('HSET', KEYS[1], 's:', FORGOTTEN, 's:*', FORGOTTEN) end
  c.exposed = true
  if call('HSETNX', KEYS[1], 's:' .. id, what) == 1 then c.v = c.v + 1 end
  call('HSETNX', KEYS[1], 's:*', what)
end

-- ROW is who had a say, one a line: number, level, fixed, first, last, step, endorsed, label; see session.Influences.
local ROW = '(%d+) (%d) (%d) (%d+) (%d+) (%d+) (%d+) ([^\n]*)\n'

local function row(...) return table.concat({ ... }, ' ') .. '\n' end

-- counting is the worst of what nobody vouches for.
local function counting(rows)
  local worst = 0
  for _, l, _, _, _, _, e in string.gmatch(rows, ROW) do
    if e == '0' then worst = max(worst, tonumber(l)) end
  end
  return worst
end

-- put adds one to the rows of a session id, or says that it had a say again.
local function put(rows, to, label, fixed, step, full)
  local out, n, found = {}, 0, false
  for number, l, f, first, last, s, e, text in string.gmatch(rows, ROW) do
    n = n + 1
    if f == fixed and text == label then
      found, l, last, s, e = true, max(tonumber(l), to), now, step, 0
    end
    out[n] = row(number, l, f, first, last, s, e, text)
  end
  if not found and n >= MOST and not full then return put(rows, to, '', '1', step, true) end
  if not found then out[n + 1] = row(call('HINCRBY', KEYS[1], 'on', 1), to, fixed, now, now, step, 0, label) end
  return table.concat(out)
end

-- say notes, for when the conversation is saved, that something had a say. explain does so for a level that has no name, if
-- nothing else accounts for it.
local function say(c, id, to, label, fixed)
  if to < LEAST then return end
  label = string.gsub(label, '\n', ' ')
  fixed = (fixed or label == '' or string.sub(label, -3) == '…') and '1' or '0'
  c.said = c.said or {}
  c.said[#c.said + 1] = { id = id, to = to, label = label, fixed = fixed, step = c.n }
end

local function explain(c, id, to)
  if to < LEAST then return end
  c.said = c.said or {}
  c.said[#c.said + 1] = { id = id, to = to, label = '', fixed = '1', step = c.n, unless = true }
end

local function keep(s)
  local field = 'o:' .. s.id
  local rows = call('HGET', KEYS[1], field) or ''
  if s.unless and s.to <= counting(rows) then return end
  call('HSET', KEYS[1], field, put(rows, s.to, s.label, s.fixed, s.step))
end

-- save writes what changed, and touches the keys at most once an hour.
local function save(c)
  local stale = now - c.touched >= 3600000
  if stale then c.touched = now end
  if c.new then
    call('SADD', KEYS[2], ARGV[2])
    call('DEL', KEYS[4], KEYS[5]) -- of a life that vanished
    call('HSET', KEYS[1], 'name', ARGV[3])
    if c.bad then
      call('HSET', KEYS[1], 'l:', UNTRUSTED, 's:', FORGOTTEN, 's:*', FORGOTTEN)
      keep({ id = '', to = UNTRUSTED, label = '', fixed = '1', step = 0 })
    end
  end
  for _, s in ipairs(c.said or {}) do keep(s) end
  c.head = head(c)
  if c.moved then
    call('HSET', KEYS[1], 'h', c.head, 'l:' .. sid, c.own)
  else
    call('HSET', KEYS[1], 'h', c.head)
  end
  if stale then
    for _, key in ipairs({ KEYS[1], KEYS[4], KEYS[5] }) do call('PEXPIRE', key, MONTH) end
  end
end

-- recall finds a request that is remembered: its body and mark.
local function recall(key)
  local r = call('GET', key)
  if not r then return nil end
  local colon = string.find(r, ':', 1, true)
  if tonumber(string.sub(r, 1, colon - 1)) <= now then return nil end
  return string.sub(r, colon + 1, colon + 32), string.sub(r, colon + 33)
end

local function request(body, mark, keep) return format('%d:', now + keep) .. body .. mark end

-- view writes a snapshot in one string, for that is cheapest to make and to send:
-- entry replayed lost capped mode level after, one digit each, then now and the head.
local function view(c, v, entry)
  local l = level(c)
  return format('%d%d%d%d%d%d%d %d ', entry, v.replayed or 0, v.lost or 0, v.capped or 0, v.mode or 0, v.level or l, l, now)
    .. (c.head or head(c))
end

-- lost is the view of a conversation that is not there.
local function lost(replayed, mode)
  return format('0%d10%d%d%d %d 0 0 0 0 0 0 ', replayed, mode, UNTRUSTED, UNTRUSTED, now)
end

-- braked gives what stands about pauses, if that is not what the caller takes to stand there.
local function braked(pauses, all, agent, own)
  local p = call('HMGET', pauses, '*', agent)
  local a, b = p[1] or '', p[2] or ''
  if a ~= all or b ~= own then return { 'braked', a, b } end
end
