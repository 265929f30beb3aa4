-- arguments: all that a call says of itself, numbered as state.lua and admit.lua know it.
local cap, epoch, sender, digest, from = match(said, '^(%d+) (%d+) (%d+) (%d+) ()', f)
epoch = from + epoch
sender = epoch + sender
digest = sender + digest
local ARGV = {
  sub(said, from, epoch - 1), sub(KEYS[1], -32), sub(said, digest), session, said, generation,
  sub(allowed, 1, 32), sub(allowed, 33), keep, cap, sub(said, epoch, sender - 1), source, sub(said, sender, digest - 1),
  all_paused, agent, agent_paused, unpack(ARGV, 2),
}
