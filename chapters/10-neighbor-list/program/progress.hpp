// A bar on the terminal for work that takes longer than a second.
#pragma once

#include <fmt/format.h>
#include <unistd.h>
#include <chrono>
#include <string>

class Progress {
 public:
  Progress(const std::string& what, std::size_t total) : what_(what), total_(total) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  void operator()(std::size_t done) {
    const auto now = Clock::now();
    if (now < next_ || isatty(STDERR_FILENO) == 0) return;
    next_ = now + std::chrono::milliseconds(100);
    shown_ = true;
    const std::string bar(40 * done / total_, '#');
    fmt::print(stderr, "\r{:8} [{:.<40}] {:3} %", what_, bar, 100 * done / total_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::size_t total_;
  bool shown_ = false;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};
