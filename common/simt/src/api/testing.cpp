// What testing.hpp offers that needs the queues: another machine, traces, a fresh start.
#include "simt/testing.hpp"

#include <execinfo.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "api/allocations.hpp"
#include "api/captures.hpp"
#include "api/errors.hpp"
#include "api/events.hpp"
#include "api/queues.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/fences.hpp"
#include "counters/counters.hpp"
#include "kernel/engine.hpp"
#include "kernel/findings.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"
#include "memory/heap.hpp"
#include "report/reports.hpp"
#include "report/source_lines.hpp"
#include "scheduler/lockstep.hpp"
#include "trace/trace.hpp"

namespace simt {

void note_heap_leaks() {
  for (int device = 0; device < device_count(); ++device) note_heap_leaks(device);
}

void reset_device() {
  forget_captures();
  reset_queues();
  reset_devices();
  fences_forget();
  reset_errors();
  forget_records();
}

void call_unseen(void (*work)()) {
  const ScopedIgnore guard;
  work();
}

void set_devices(int count) {
  if (count < 1 || count > kMostDevices) {
    throw std::invalid_argument(
        fmt::format("simt::set_devices({}): 1 to {} devices are possible", count, kMostDevices));
  }
  for (int device = count; device < device_count(); ++device) {
    if (allocated_bytes(device) == 0) continue;
    throw std::logic_error(fmt::format("simt::set_devices({}): device {} still has {} bytes", count,
                                       device, allocated_bytes(device)));
  }
  drain_all_streams();
  reset_device();
  set_device_count(count);
}

// ---- a part of a grid ---------------------------------------------------------------------------

SomeBlocks::SomeBlocks(std::uint64_t first, std::uint64_t last)
    : first_before_(engine.blocks_to_run.first), last_before_(engine.blocks_to_run.last) {
  drain_all_streams();
  engine.blocks_to_run = {first, last};
}

SomeBlocks::~SomeBlocks() {
  drain_all_streams();
  engine.blocks_to_run = {first_before_, last_before_};
}

// ---- traces -------------------------------------------------------------------------------------

void start_trace(const TraceSettings& settings) {
  drain_all_streams();
  open_trace(settings);
}

void stop_trace() {
  drain_all_streams();
  close_trace();
}

// ---- counters -----------------------------------------------------------------------------------

namespace {
unsigned open_scopes = 0;
}

CountScope::CountScope() {
  drain_all_streams();
  if (open_scopes++ == 0) {
    begin_lockstep();
    begin_counting();
  }
  before_ = counted;
}

CountScope::~CountScope() {
  drain_all_streams();
  if (--open_scopes == 0) end_lockstep();
}

Counters CountScope::counters() const {
  drain_all_streams();
  return difference(counted, before_);
}

Counters counted_so_far() {
  drain_all_streams();
  return counted;
}

std::vector<KernelCounters> CountScope::by_kernel() const { return counted_by_kernel(); }

CountAll::CountAll() {
  drain_all_streams();
  begin_lockstep();
  before_ = counted;
}

CountAll::~CountAll() {
  drain_all_streams();
  end_lockstep();
}

Counters CountAll::counters() const {
  drain_all_streams();
  return difference(counted, before_);
}

// ---- what host code does ------------------------------------------------------------------------

std::string Holding::line() const { return source_line(made_by).text(); }

std::vector<Holding> holdings() {
  drain_all_streams();
  std::vector<Holding> list;
  list_memory(list);
  list_streams(list);
  list_events(list);
  return list;
}

// ---- a program that ends early ------------------------------------------------------------------

namespace {

std::vector<std::string> lines_above_the_device(const std::vector<const void*>& addresses) {
  look_up_lines(addresses);
  std::vector<std::string> lines;
  for (const void* address : addresses) {
    const SourceLine line = source_line(address);
    if (is_above_the_device(line)) lines.push_back(line.text());
  }
  return lines;
}

}  // namespace

std::vector<std::string> lines_of_calls() {
  std::array<void*, 32> calls{};
  const int count = backtrace(calls.data(), static_cast<int>(calls.size()));
  const std::vector<const void*> addresses(calls.begin(), calls.begin() + count);
  return lines_above_the_device(addresses);
}

std::vector<std::string> lines_of_launch() {
  if (engine.launch == nullptr) return {};
  return lines_above_the_device(engine.launch->calls);
}

std::string give_up_launch() {
  engine.current = nullptr;  // what runs from here on is the host's
  if (engine.launch == nullptr) return "";
  for (Report& report : take_findings()) deliver(std::move(report));
  const auto extent = [](dim3 d) {
    if (d.y == 1 && d.z == 1) return fmt::format("{}", d.x);
    if (d.z == 1) return fmt::format("dim3({}, {})", d.x, d.y);
    return fmt::format("dim3({}, {}, {})", d.x, d.y, d.z);
  };
  return fmt::format("{}<<<{}, {}>>>", engine.launch->kernel, extent(engine.launch->grid),
                     extent(engine.launch->block));
}

}  // namespace simt
