// The log of WorkLog, and what writes it.
#include "api/work_log.hpp"

#include <cstddef>
#include <vector>

#include "api/queues.hpp"

namespace simt {
namespace {

struct Log {
  unsigned open = 0;  // WorkLogs that live
  std::vector<Work> work;
};

Log& work_log() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

TimedWork::TimedWork(Work::Kind kind) : kind_(kind), begin_(std::chrono::steady_clock::now()) {}

TimedWork::~TimedWork() {
  if (work_log().open == 0) return;
  work_log().work.push_back({kind_, begin_, std::chrono::steady_clock::now()});
}

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
