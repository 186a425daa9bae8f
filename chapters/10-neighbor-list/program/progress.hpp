// A bar on the terminal, for those who would otherwise wonder.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

/// Shows how far a piece of work is, on standard error: only if that is a terminal, only once a
/// second has passed, ten times per second, and clears its line in the end.
class Progress {
 public:
  Progress(std::string what, std::size_t total)
      : what_(std::move(what)), total_(total), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` are done.
  void operator()(std::size_t done) {
    if (!is_terminal_) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    shown_ = true;
    constexpr std::size_t kWidth = 40;
    const double part = total_ == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total_);
    const auto full = static_cast<std::size_t>(part * kWidth);
    const std::string bar = std::string(full, '#') + std::string(kWidth - full, '.');
    std::fprintf(stderr, "\r%-8s [%s] %3d %%", what_.c_str(), bar.c_str(),
                 static_cast<int>(100 * part));
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::size_t total_;
  bool is_terminal_, shown_ = false;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};
