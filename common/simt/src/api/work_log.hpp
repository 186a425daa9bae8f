// What is done when, for WorkLog.
#pragma once

#include <chrono>
#include <cstddef>

#include "simt/testing.hpp"

namespace simt {

/// Work of the host's thread that lasts as long as this lives.
class TimedWork {
 public:
  explicit TimedWork(Work::Kind kind);
  /// Of a copy.
  TimedWork(const void* to, const void* from, std::size_t bytes);
  ~TimedWork();
  TimedWork(const TimedWork&) = delete;
  TimedWork& operator=(const TimedWork&) = delete;

 private:
  Work work_;
};

/// While one lives, all that is timed has this order.
class OrderedWork {
 public:
  explicit OrderedWork(WorkOrder order);
  ~OrderedWork();
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;
};

}  // namespace simt
