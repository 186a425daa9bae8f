// The warp-wide functions. Each is one rendezvous of the lanes in its mask (warp_call), and a function that computes
// what each lane gets. They are no templates in a header: a kernel is compiled without optimisation.
#include <algorithm>
#include <cstring>

#include "kernel/engine.hpp"
#include "scheduler/collectives.hpp"
#include "simt/runtime.hpp"

namespace simt {
namespace {

void finish_nothing(const Lanes&) {}

void finish_ballot(const Lanes& lanes) {
  unsigned votes = 0;
  for (unsigned l = 0; l < 32; ++l) {
    if (takes_part(lanes, l) && lanes.call[l]->argument != 0) votes |= 1u << l;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if (takes_part(lanes, l)) std::memcpy(lanes.call[l]->out, &votes, sizeof votes);
  }
}

/// Values of different sizes are not the same.
bool is_same_value(const WarpCall& a, const WarpCall& b) {
  return a.size == b.size && std::memcmp(a.in, b.in, a.size) == 0;
}

void finish_match_any(const Lanes& lanes) {
  for (unsigned l = 0; l < 32; ++l) {
    if (!takes_part(lanes, l)) continue;
    unsigned equal = 0;
    for (unsigned k = 0; k < 32; ++k) {
      if (takes_part(lanes, k) && is_same_value(*lanes.call[k], *lanes.call[l])) equal |= 1u << k;
    }
    std::memcpy(lanes.call[l]->out, &equal, sizeof equal);
  }
}

/// A value that has fewer bytes than its reader's type is followed by zeros.
void copy_value(const WarpCall& from, WarpCall& to) {
  constexpr unsigned kUsual = 4;
  if (from.size == kUsual && to.size == kUsual) {  // without a call
    std::memcpy(to.out, from.in, kUsual);
    return;
  }
  const unsigned size = std::min(from.size, to.size);
  std::memcpy(to.out, from.in, size);
  std::memset(static_cast<unsigned char*>(to.out) + size, 0, to.size - size);
}

void finish_shuffle(const Lanes& lanes) {
  for (unsigned l = 0; l < 32; ++l) {
    if (!takes_part(lanes, l)) continue;
    WarpCall& mine = *lanes.call[l];
    const auto source = static_cast<unsigned>(mine.argument);
    if (source < 32 && takes_part(lanes, source)) {
      copy_value(*lanes.call[source], mine);
    } else {
      fill_undefined(static_cast<unsigned char*>(mine.out), mine.size);
      read_absent_lane(lanes, l);
    }
  }
}

void finish_gather(const Lanes& lanes) {
  for (unsigned l = 0; l < 32; ++l) {
    if (!takes_part(lanes, l)) continue;
    WarpCall& to = *lanes.call[l];
    for (unsigned k = 0; k < 32; ++k) {
      if (!takes_part(lanes, k)) continue;
      const WarpCall& from = *lanes.call[k];
      std::memcpy(static_cast<unsigned char*>(to.out) + std::size_t{k} * to.size, from.in,
                  std::min(from.size, to.size));
    }
    to.argument = static_cast<int>(lanes.present);
  }
}

}  // namespace

void sync_warp(const char* name, unsigned mask, const void* caller) {
  WarpCall call{WarpOp::sync, name, mask, finish_nothing, caller};
  call.orders_memory = true;
  wait_for_lanes(call);
}

unsigned ballot(const char* name, unsigned mask, bool predicate, const void* caller, WarpOp op) {
  unsigned votes = 0;
  WarpCall call{op, name, mask, finish_ballot, caller};
  call.argument = predicate;
  call.out = &votes;
  wait_for_lanes(call);
  return votes;
}

unsigned match_any_value(const char* name, unsigned mask, const TypedValue& value,
                         const void* caller) {
  unsigned equal = 0;
  WarpCall call{WarpOp::match, name, mask, finish_match_any, caller};
  call.size = static_cast<unsigned>(value.type.size);
  call.in = value.bytes;
  call.out = &equal;
  wait_for_lanes(call);
  trace_warp_values(value, {&equal, type_of<LaneMask>()});
  return equal;
}

void shuffle_value(const char* name, unsigned mask, const TypedValue& value, unsigned source,
                   void* result, const void* caller) {
  WarpCall call{WarpOp::shuffle, name, mask, finish_shuffle, caller};
  call.size = static_cast<unsigned>(value.type.size);
  call.argument = static_cast<int>(source);
  call.in = value.bytes;
  call.out = result;
  wait_for_lanes(call);
  if (engine.tracing) trace_warp_values(value, {result, value.type}, call.argument);
}

unsigned gather_values(const char* name, unsigned mask, const void* value, unsigned size,
                       void* values, const void* caller) {
  WarpCall call{WarpOp::reduce, name, mask, finish_gather, caller};
  call.size = size;
  call.in = value;
  call.out = values;
  wait_for_lanes(call);
  return static_cast<unsigned>(call.argument);
}

}  // namespace simt
