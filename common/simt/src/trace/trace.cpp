// Makes the events of a trace from what lanes do.
#include "trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "kernel/cluster.hpp"
#include "kernel/engine.hpp"
#include "memory/names.hpp"
#include "trace/file.hpp"
#include "trace/recording.hpp"

namespace simt {
namespace {

SIMT_EARLY Recording recording;

/// True for `ns::kernel<int>` if the filter is all of it, or without the arguments, or without ns.
bool matches(std::string kernel, const std::string& filter) {
  if (filter.empty() || kernel == filter) return true;
  kernel = kernel.substr(0, kernel.find('<'));
  if (kernel == filter) return true;
  const std::size_t scope = kernel.rfind("::");
  return scope != std::string::npos && kernel.substr(scope + 2) == filter;
}

// ---- making events ------------------------------------------------------------------------------

/// The calls of a waiting thread: where the kernel's own line is, if `caller` is in a header of the course.
std::vector<const void*> callers_of(const Thread& t, const void* caller) {
  return callers_of(t.fiber, t.waiting->frame, caller);
}

/// A new event, or null if it is not to be recorded.
Event* add_event(Op op, const Block& block, unsigned warp, unsigned lanes, const char* name,
                 std::vector<const void*> callers) {
  Recording& r = recording;
  const TraceSettings& settings = trace_file().settings();
  if (block.linear >= settings.blocks) return nullptr;
  if (r.events.size() >= settings.events) r.full = true;
  if (r.full) return nullptr;
  Event& e = r.events.emplace_back();
  e.op = op;
  e.block = block.linear;
  e.warp = warp;
  e.lanes = lanes;
  e.name = name;
  e.callers = std::move(callers);
  return &e;
}

/// A lane does what lanes of a warp do one after another: it joins their event, unless the warp has
/// done something else since. That others have returned meanwhile is nothing else.
void join_or_add(Op op, const Thread& t, const char* name, std::vector<const void*> callers) {
  const unsigned lane = 1u << t.lane;
  for (auto e = recording.events.rbegin(); e != recording.events.rend(); ++e) {
    if (e->block != t.block->linear || e->warp != t.warp) continue;
    if (e->op == op && e->callers == callers && (e->lanes & lane) == 0) {
      e->lanes |= lane;
      return;
    }
    if (e->op != Op::leave) break;
  }
  add_event(op, *t.block, t.warp, lane, name, std::move(callers));
}

std::uint32_t last_event() { return static_cast<std::uint32_t>(recording.events.size() - 1); }

/// Tells memory of a block apart: its variables have another address in every block.
const void* key_of(const Block& block, const Allocation& memory) {
  static const char dynamic = 0;
  if (block.dynamic == &memory) return &dynamic;
  for (const SharedInstance& s : block.shared) {
    if (s.memory == &memory) return s.key;
  }
  return &memory;
}

/// The block whose shared memory the running block accesses: itself, or another one of its cluster.
const Block& holder_of(const Block& block, const Allocation& memory) {
  if (block.cluster == nullptr || memory.holder == block.linear) return block;
  const Member* const other = block.cluster->member(memory.holder);
  return other == nullptr ? block : *other->block;
}

std::uint32_t array_of(const Block& block, const Allocation& memory) {
  std::vector<Array>& arrays = recording.arrays;
  const bool shared = memory.space == Space::shared;
  const Block& holder = shared ? holder_of(block, memory) : block;
  const void* key = key_of(holder, memory);
  const std::uint32_t owner = shared && engine.clusters ? holder.linear : kEveryBlock;
  for (std::uint32_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].key == key && arrays[i].block == owner) return i;
  }
  const std::size_t bytes = memory.end() - memory.name_origin;
  arrays.push_back({key, owner, shared ? nullptr : &memory, shared ? name_of(memory) : "",
                    memory.element, bytes / memory.element.size,
                    static_cast<unsigned>(memory.name_origin % 128)});
  return static_cast<std::uint32_t>(arrays.size() - 1);
}

/// Sets the value of one lane; the others may follow, or never come.
void set(Column& column, const Event& e, unsigned slot, const Value& value) {
  if (column.empty()) column.resize(static_cast<std::size_t>(__builtin_popcount(e.lanes)));
  column[slot] = value;
}

/// The event that the lane's last instruction belongs to, if it is one of these.
Event* event_of(Thread& t, std::initializer_list<Op> ops) {
  const std::uint32_t index = std::exchange(t.traced, kNoEvent);
  if (index == kNoEvent) return nullptr;
  Event& e = recording.events[index];
  for (const Op op : ops) {
    if (e.op == op) return &e;
  }
  return nullptr;
}

Op op_of(AccessKind kind) {
  if (kind == AccessKind::fence) return Op::fence;
  if (kind == AccessKind::atomic) return Op::atomic;
  return is_load(kind) ? Op::load : Op::store;
}

Op op_of(WarpOp op) {
  switch (op) {
    case WarpOp::vote:
      return Op::vote;
    case WarpOp::match:
      return Op::match;
    case WarpOp::shuffle:
      return Op::shuffle;
    case WarpOp::reduce:
      return Op::reduce;
    default:
      return Op::syncwarp;
  }
}

/// What is not recorded of the launch that ends, in words; empty if it is all.
std::string left_out_text() {
  const TraceSettings& settings = trace_file().settings();
  std::string text;
  if (settings.blocks < engine.blocks_total) {
    text = fmt::format("blocks 0 to {} of {}", settings.blocks - 1, engine.blocks_total);
  }
  if (recording.full) {
    text += fmt::format("{}the first {} events", text.empty() ? "" : ", ", settings.events);
  }
  return text;
}

/// The value at the address of a lane's load or store now.
Value value_of(const Event& e, unsigned slot, std::uintptr_t address, std::size_t size) {
  return value_at(reinterpret_cast<const void*>(address), size,
                  recording.arrays[e.places[slot].array].element);
}

/// For the copy of a struct compilers announce the store first and then the load, and only then
/// store. A load that follows a store which has changed nothing may mean that; no number is copied
/// so.
bool may_be_yet_to_come(const Recording& r, const Value& now) {
  if (is_number(now)) return false;
  return r.before_store.size == now.size && r.before_store.bytes == now.bytes;
}

}  // namespace

void trace_settle_store(bool before_load) {
  const ScopedIgnore guard;
  Recording& r = recording;
  if (r.store_event == kNoEvent) return;
  Event& e = r.events[std::exchange(r.store_event, kNoEvent)];
  const Value now = value_of(e, r.store_slot, r.store_address, r.store_size);
  const bool known = !before_load || !may_be_yet_to_come(r, now);
  set(e.values, e, r.store_slot, known ? now : Value{});
}

// ---- settings -----------------------------------------------------------------------------------

void open_trace(const TraceSettings& settings) { trace_file().open(settings); }

void close_trace() { trace_file().close(); }

void name_test(const std::string& name) { trace_file().set_test(name); }

// ---- a launch -----------------------------------------------------------------------------------

bool trace_start_launch() {
  TraceFile& file = trace_file();
  engine.tracing = file.is_open() && matches(engine.launch->kernel, file.settings().kernel);
  if (!engine.tracing) return false;
  recording = {};
  recording.active = true;
  return true;
}

bool trace_is_done() {
  const auto blocks = std::min<std::uint64_t>(trace_file().settings().blocks, engine.blocks_total);
  if (!recording.full && recording.blocks_ended < blocks) return false;
  const ScopedIgnore guard;
  trace_settle_store();
  engine.tracing = false;
  return true;
}

void trace_end_launch(const Launch& launch, const std::vector<Report>& findings) {
  if (!recording.active) return;
  trace_settle_store();
  engine.tracing = false;
  // Past the limit, a launch with a finding is still worth having.
  TraceFile& file = trace_file();
  if (file.has_room() || !findings.empty()) {
    file.add_launch(launch, recording, !recording.full && !engine.failed, left_out_text(),
                    findings);
  } else {
    file.leave_out_launch();
  }
  recording = {};
}

void trace_forget_launch() {
  engine.tracing = false;
  recording = {};
}

void trace_end_block(const Block& block) {
  trace_settle_store();
  if (block.linear < trace_file().settings().blocks) ++recording.blocks_ended;
}

// ---- what lanes do ------------------------------------------------------------------------------

void trace_instruction(Thread* const* lanes, unsigned n, unsigned cost) {
  const ScopedIgnore guard;
  const Thread& leader = *lanes[0];
  const Parked& what = *leader.parked;
  for (unsigned i = 0; i < n; ++i) lanes[i]->traced = kNoEvent;
  if (what.kind == AccessKind::none) return;
  const Block& block = *leader.block;
  const Op op = op_of(what.kind);
  unsigned mask = 0;
  for (unsigned i = 0; i < n; ++i) mask |= 1u << lanes[i]->lane;
  const char* name = what.name != nullptr ? what.name : name_of(op);
  Event* e = add_event(op, block, leader.warp, mask, name, callers_of(leader, what.pc));
  if (e == nullptr) return;
  e->bytes = what.size;
  e->cost = cost;
  e->shared = what.shared;
  for (unsigned i = 0; i < n; ++i) {
    lanes[i]->traced = last_event();
    if (what.size == 0) continue;
    const std::uintptr_t address = lanes[i]->parked->address;
    const Allocation* memory = owner_of(address);
    if (memory == nullptr) memory = global_at(address);
    e->places.push_back(
        {array_of(block, *memory), static_cast<std::int64_t>(address - memory->name_origin)});
  }
}

void trace_access(Thread& t, std::uintptr_t address, std::size_t size, bool write) {
  const ScopedIgnore guard;
  trace_settle_store();
  const std::uint32_t index = t.traced;
  Event* e = event_of(t, {Op::load, Op::store});
  if (e == nullptr) return;
  const unsigned slot = e->slot(t.lane);
  const Value now = value_of(*e, slot, address, size);
  if (!write) {
    set(e->values, *e, slot, now);
    return;
  }
  recording.store_event = index;
  recording.store_slot = slot;
  recording.store_address = address;
  recording.store_size = size;
  recording.before_store = now;
}

void trace_atomic(Thread& t, const AtomicValues& values) {
  const ScopedIgnore guard;
  Event* e = event_of(t, {Op::atomic});
  if (e == nullptr) return;
  const unsigned slot = e->slot(t.lane);
  const auto add = [&](Column& column, const void* bytes) {
    if (bytes != nullptr) set(column, *e, slot, value_at(bytes, values.type.size, values.type));
  };
  add(e->values, values.operand);
  add(e->old, values.old);
  add(e->expected, values.expected);
}

void trace_warp_call(Block& block, unsigned warp, const Lanes& lanes, const WarpCall& call) {
  if (call.op == WarpOp::part) return;
  const ScopedIgnore guard;
  const Thread& leader = *block.lane(warp, static_cast<unsigned>(__builtin_ctz(lanes.present)));
  Event* e = add_event(op_of(call.op), block, warp, lanes.present, call.name,
                       callers_of(leader, call.caller));
  if (e != nullptr) e->mask = lanes.mask;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes.present >> l & 1u) == 0) continue;
    block.lane(warp, l)->traced = e == nullptr ? kNoEvent : last_event();
  }
}

void trace_warp_values(TypedValue given, TypedValue received, int source) {
  if (!engine.tracing) return;
  const ScopedIgnore guard;
  Thread& t = *engine.current;
  Event* e = event_of(t, {Op::shuffle, Op::vote, Op::reduce, Op::match});
  if (e == nullptr) return;
  const unsigned slot = e->slot(t.lane);
  set(e->given, *e, slot, value_at(given.bytes, given.type.size, given.type));
  if (e->op == Op::shuffle) {
    e->sources.resize(static_cast<std::size_t>(__builtin_popcount(e->lanes)), kNoSource);
    e->sources[slot] = source < static_cast<int>(kWarpSize) ? source : kNoSource;
    if (e->sources[slot] == kNoSource || (e->lanes >> source & 1u) == 0) return;  // undefined
  }
  set(e->values, *e, slot, value_at(received.bytes, received.type.size, received.type));
}

void trace_active_mask(Block& block, unsigned warp, unsigned mask, const Thread& leader) {
  const ScopedIgnore guard;
  Event* e = add_event(Op::activemask, block, warp, mask, leader.waiting->name,
                       callers_of(leader, leader.waiting->caller));
  if (e == nullptr) return;
  const LaneMask result{mask};
  e->values.assign(static_cast<std::size_t>(__builtin_popcount(mask)),
                   value_at(&result, sizeof result, type_of<LaneMask>()));
}

void trace_barrier(Block& block) {
  const ScopedIgnore guard;
  for (unsigned w = 0; w < block.warps.size(); ++w) {
    if (block.warps[w].alive == 0) continue;
    const Thread& leader =
        *block.lane(w, static_cast<unsigned>(__builtin_ctz(block.warps[w].alive)));
    add_event(Op::barrier, block, w, block.warps[w].alive, leader.waiting->name,
              callers_of(leader, leader.waiting->caller));
  }
}

void trace_cluster_barrier(Thread& t) {
  const ScopedIgnore guard;
  trace_settle_store();
  join_or_add(Op::cluster_barrier, t, t.waiting->name, callers_of(t, t.waiting->caller));
}

void trace_return(Thread& t) {
  const ScopedIgnore guard;
  trace_settle_store();
  join_or_add(Op::leave, t, "return", {t.parked->pc});
}

}  // namespace simt
