// The log of WorkLog, and what writes it.
#include "api/work_log.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "api/queues.hpp"
#include "memory/allocations.hpp"

namespace simt {
namespace {

struct Log {
  unsigned open = 0;  // WorkLogs that live
  std::vector<Work> work;
  WorkOrder order;  // of what runs now
};

Log& work_log() {
  static Log& log = *new Log;
  return log;
}

bool is_in(Space wanted, const void* p) {
  Space space;
  return is_device_address(p) && find_space(p, 1, &space) && space == wanted;
}
bool is_of_host(const void* p) { return !is_device_address(p) || is_in(Space::pinned, p); }

/// True if the work is among what a clock knows.
bool knows(const StreamClock& clock, const WorkOrder& work) {
  return !work.clock.empty() && entry(clock, work.stream) >= entry(work.clock, work.stream);
}

}  // namespace

TimedWork::TimedWork(Work::Kind kind) : work_{kind, std::chrono::steady_clock::now(), {}} {}

TimedWork::TimedWork(const void* to, const void* from, std::size_t bytes)
    : TimedWork(Work::Kind::copy) {
  work_.to = to, work_.from = from, work_.bytes = bytes;
  work_.is_to_host = is_of_host(to) && !is_of_host(from) && !is_in(Space::managed, from);
}

TimedWork::~TimedWork() {
  if (work_log().open == 0) return;
  work_.end = std::chrono::steady_clock::now();
  work_.order = work_log().order;
  work_log().work.push_back(std::move(work_));
}

OrderedWork::OrderedWork(WorkOrder order) { work_log().order = std::move(order); }

OrderedWork::~OrderedWork() { work_log().order = {}; }

bool Work::always_after(const Work& earlier) const {
  if (this == &earlier) return false;
  return knows(order.clock, earlier.order);
}

bool Work::called_after(const Work& earlier) const { return knows(order.known, earlier.order); }

WorkLog::WorkLog() {
  drain_all_streams();
  ++work_log().open;
  first_ = work_log().work.size();
}

WorkLog::~WorkLog() {
  if (--work_log().open == 0) work_log().work.clear();
}

std::vector<Work> WorkLog::work() const {
  drain_all_streams();
  const std::vector<Work>& all = work_log().work;
  return {all.begin() + static_cast<std::ptrdiff_t>(first_), all.end()};
}

}  // namespace simt
