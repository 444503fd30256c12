-- Written by rexmit wireshark, which replaces this file; changes of yours belong into another one.
--
-- Findings of `rexmit analyze --annotate` as fields of packets. rexmit writes them as packet comments, whose grammar
-- docs/wireshark.md states; this script reads the comments and analyses nothing by itself. It must be in step with
-- the grammar: a comment that it cannot read shows as an expert note, and never as a field with another value.

-- This fails where the script runs already: one that is installed, beside one that the command line names.
local is_new, rexmit = pcall(Proto, "rexmit", "rexmit: findings about this packet")
if not is_new then return end

local f = {
  finding = ProtoField.string("rexmit.finding", "Finding"),
  cause = ProtoField.string("rexmit.cause", "Cause of the retransmission"),
  evidence = ProtoField.string("rexmit.evidence", "Evidence"),
  backoff = ProtoField.uint32("rexmit.backoff", "Back-off"),
  copy = ProtoField.uint32("rexmit.copy", "Copy of the segment"),
  needless = ProtoField.bool("rexmit.needless", "Needless"),
  proof = ProtoField.string("rexmit.proof", "Proof that it was needless"),
  lost = ProtoField.bool("rexmit.lost", "Lost"),
  burst = ProtoField.uint32("rexmit.burst", "Segments lost in the burst"),
  trigger = ProtoField.string("rexmit.trigger", "Trigger of the burst's repair"),
  episode = ProtoField.uint32("rexmit.episode", "Episode"),
  idle = ProtoField.string("rexmit.idle", "Cause of the idle time before"),
  owner = ProtoField.string("rexmit.owner", "Owner of this moment"),
  by = ProtoField.string("rexmit.by", "End that is responsible"),
  certainty = ProtoField.string("rexmit.certainty", "Certainty of the owner"),
}
rexmit.fields = f

local unread = ProtoExpert.new(
  "rexmit.unread", "This comment was written by another version of rexmit", expert.group.UNDECODED, expert.severity.NOTE)
rexmit.experts = { unread }

local comments = Field.new("frame.comment")
local streams = Field.new("tcp.stream")

-- By TCP stream the comments on owners, in the order of their packets: each holds until the next one of its stream.
local owners = {}

function rexmit.init()
  owners = {}
end

-- Values as the tables of rexmit have them.
local EVIDENCE = { ["duplicate ACKs"] = "dupack", ["SACK"] = "sack", ["time"] = "time" }
local PROOF = {
  ["DSACK"] = "dsack",
  ["timestamps"] = "timestamps",
  ["its ACK came too early"] = "early-ack",
  ["seen twice"] = "seen",
}
local TRIGGER = {
  ["an ACK"] = "ack",
  ["the retransmission timer"] = "timer-rto",
  ["the probe timer"] = "timer-probe",
}

-- The clauses of a text between separators.
local function clauses(text, separator)
  local found, from = {}, 1
  while true do
    local first, last = text:find(separator, from, true)
    table.insert(found, text:sub(from, first and first - 1))
    if not first then return found end
    from = last + 1
  end
end

-- A pair of field and value for each thing that a finding says, in its order; nil if it is not in the grammar.
local READ = {}

function READ.retransmission(text)
  local inside, rest = text:match("^retransmission %(([^)]+)%)(.*)$")
  if not inside then return nil end
  local said = { { f.finding, "retransmission" } }
  for i, word in ipairs(clauses(inside, ", ")) do
    local backoff = word:match("^back%-off (%d+)$")
    if i == 1 then
      table.insert(said, { f.cause, word })
    elseif backoff then
      table.insert(said, { f.backoff, tonumber(backoff) })
    elseif EVIDENCE[word] then
      table.insert(said, { f.evidence, EVIDENCE[word] })
    else
      return nil
    end
  end
  for part in rest:gmatch("[^;]+") do
    for _, clause in ipairs(clauses(part:gsub("^ ", ""), ", ")) do
      local copy = clause:match("^copy (%d+)$")
      local proof = clause:match("^needless: (.+)$")
      local burst = clause:match("^first repair of a burst of (%d+) lost segments?$")
      local trigger = clause:match("^on (.+)$")
      local episode = clause:match("^episode (%d+)$")
      if copy then
        table.insert(said, { f.copy, tonumber(copy) })
      elseif proof then
        if not PROOF[proof] then return nil end
        table.insert(said, { f.needless, true })
        table.insert(said, { f.proof, PROOF[proof] })
      elseif clause == "lost again" then
        table.insert(said, { f.lost, true })
      elseif burst then
        table.insert(said, { f.burst, tonumber(burst) })
      elseif trigger then
        if not TRIGGER[trigger] then return nil end
        table.insert(said, { f.trigger, TRIGGER[trigger] })
      elseif episode then
        table.insert(said, { f.episode, tonumber(episode) })
      elseif clause ~= "" and not clause:find(" after the copy before it$")
        and not clause:find("^after a silence of ") then
        return nil
      end
    end
  end
  return said
end

function READ.lost(text)
  local burst, rest = text:match("^lost, with a burst of (%d+) segments?(.*)$")
  if not burst then return nil end
  local said = { { f.finding, "lost" }, { f.lost, true }, { f.burst, tonumber(burst) } }
  local episode = rest:match("^; episode (%d+)$")
  if episode then
    table.insert(said, { f.episode, tonumber(episode) })
  elseif rest ~= "" then
    return nil
  end
  return said
end

function READ.episode(text)
  local episode, what = text:match("^episode (%d+) (%l+): ")
  if what ~= "begins" and what ~= "ends" then return nil end
  return { { f.finding, "episode-" .. what }, { f.episode, tonumber(episode) } }
end

function READ.idle(text)
  local cause = text:match("^idle for .+ before this %(([^)]+)%)$")
  return cause and { { f.finding, "idle" }, { f.idle, cause } }
end

READ["tail-loss"] = function(text)
  return text:find("^tail%-loss probe with new data, ") and { { f.finding, "probe" } }
end

-- Keeps what is said of the packets of a stream from one on.
local function keep(stream, number, said)
  if not stream then return end
  local known = owners[stream] or {}
  owners[stream] = known
  -- A packet that is shown again was read before.
  if #known == 0 or known[#known].number < number then
    table.insert(known, { number = number, said = said })
  end
end

function READ.owner(text, number, stream)
  local cause, rest, certainty = text:match("^owner ([%l%-]+)(.*) %((%l+)%)$")
  local by = rest and rest:match("^ of the (%l+)$")
  if not cause or not (by or rest == "") then return nil end
  local said = { { f.owner, cause }, { f.certainty, certainty } }
  if by then table.insert(said, 2, { f.by, by }) end
  keep(stream, number, said)
  return {}
end

function READ.no(text, number, stream)
  if text ~= "no owner after this" then return nil end
  keep(stream, number + 1, {})
  return {}
end

-- What is said of the owner of the moment in which a packet stands; nothing before the first.
local function owner_at(number, stream)
  local known = owners[stream] or {}
  local below, above = 0, #known + 1
  while above - below > 1 do
    local middle = math.floor((below + above) / 2)
    if known[middle].number <= number then below = middle else above = middle end
  end
  return below > 0 and known[below].said or {}
end

local function add(tree, said)
  for _, pair in ipairs(said) do
    tree:add(pair[1], pair[2]):set_generated()
  end
end

function rexmit.dissector(buffer, packet, root)
  -- In a tunnel of TCP the innermost.
  local seen = { streams() }
  local stream = #seen > 0 and seen[#seen].value or nil
  for _, comment in ipairs({ comments() }) do
    -- A packet may have comments of other people, too.
    local ours = tostring(comment.value):match("^rexmit: (.*)$")
    for _, text in ipairs(ours and clauses(ours, "; rexmit: ") or {}) do
      local read = READ[text:match("^[%l%-]+")]
      local said = read and read(text, packet.number, stream)
      local tree = root:add(rexmit, buffer(0, 0))
      tree:set_text("rexmit: " .. text)
      add(tree, said or {})
      if not said then tree:add_proto_expert_info(unread) end
    end
  end
  local said = stream and owner_at(packet.number, stream) or {}
  if #said > 0 then
    local tree = root:add(rexmit, buffer(0, 0))
    tree:set_text("rexmit: the owner of this moment")
    add(tree, said)
  end
end

register_postdissector(rexmit)
