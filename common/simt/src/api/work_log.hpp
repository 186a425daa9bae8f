// What is done when, for WorkLog.
#pragma once

#include <chrono>

#include "simt/testing.hpp"

namespace simt {

/// Work of the host's thread that lasts as long as this lives.
class TimedWork {
 public:
  explicit TimedWork(Work::Kind kind);
  ~TimedWork();
  TimedWork(const TimedWork&) = delete;
  TimedWork& operator=(const TimedWork&) = delete;

 private:
  Work::Kind kind_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace simt
