-- endorse: take one who had a say out of the account, or back in. ARGV 5 its number, 6 whether the owner vouches for it, 7 when it last had a say
-- KEYS 6 grants of the bucket by their end
-- → false · 'none' · 'again' · 'fixed' · {name, session id, its row, the level before and after}
local c = read()
if not c then return false end
local name, levels, lists = '', {}, {}
local all = call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local kind, id = string.sub(all[i], 1, 2), string.sub(all[i], 3)
  if kind == 'l:' then levels[id] = tonumber(all[i + 1]) end
  if kind == 'o:' then lists[id] = all[i + 1] end
  if all[i] == 'name' then name = all[i + 1] end
end

local one
for id, rows in pairs(lists) do
  for number, l, fixed, first, last, step, e, label in string.gmatch(rows, ROW) do
    if number == ARGV[5] then one = { id = id, number = number, l = l, fixed = fixed, first = first, last = last, step = step, e = e, label = label } end
  end
end
if not one then return 'none' end
if one.last ~= ARGV[7] then return 'again' end
local vouch = ARGV[6] == '1'
if vouch and one.fixed == '1' then return 'fixed' end

local function sees(id)
  if id == '' then return c.w end
  return max(levels[id] or 0, levels[''] or 0)
end
local function written() return row(one.number, one.l, one.fixed, one.first, one.last, one.step, one.e, one.label) end
local before = sees(one.id)
if vouch == (one.e ~= '0') then return { name, one.id, written(), before, before } end

-- replace writes the row as it is now in the place of the one that was there.
local function replace(rows)
  return (string.gsub(rows, '([^\n]*\n)', function(line)
    if string.match(line, '^(%d+) ') == one.number then return written() end
  end))
end
local own = levels[one.id] or 0
if vouch then
  if own >= LEAST and own > counting(lists[one.id]) then lists[one.id] = put(lists[one.id], own, '', '1', c.n) end
  one.e = format('%d', now)
  lists[one.id] = replace(lists[one.id])
  levels[one.id] = max(math.min(own, LEAST - 1), counting(lists[one.id]))
  c.w, c.source = 0, ''
  for _, l in pairs(levels) do c.w = max(c.w, l) end
  local best = { l = -1 }
  for _, rows in pairs(lists) do
    for number, l, _, _, _, step, e, label in string.gmatch(rows, ROW) do
      local r = { number = tonumber(number), l = tonumber(l), step = tonumber(step), label = label }
      if e == '0' and (r.l > best.l or r.l == best.l and (r.step > best.step or r.step == best.step and r.number > best.number)) then best = r end
    end
  end
  if best.l >= 0 then c.source = best.l .. ':' .. best.step .. ':' .. best.label end
  c.g, c.v = max(now, c.g + 1), c.v + 1
  -- A grant from before the source had a say would cover again, for an agent that has read it.
  for _, field in ipairs(call('HKEYS', KEYS[4])) do call('ZREM', KEYS[6], ARGV[2] .. ':' .. field) end
  call('DEL', KEYS[4])
else
  one.e = '0'
  lists[one.id] = replace(lists[one.id])
  if tonumber(one.l) >= before then c.source = one.l .. ':' .. one.step .. ':' .. one.label end
  if tonumber(one.l) > own then
    levels[one.id], c.w, c.v = tonumber(one.l), max(c.w, tonumber(one.l)), c.v + 1
  end
end
call('HSET', KEYS[1], 'h', head(c), 'l:' .. one.id, levels[one.id] or 0, 'o:' .. one.id, lists[one.id])
return { name, one.id, written(), before, sees(one.id) }
