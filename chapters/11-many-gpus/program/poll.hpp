// Waiting with a deadline.
#pragma once

#include <chrono>
#include <thread>

using Seconds = std::chrono::duration<double>;

/// Asks done() until it is true, for `limit` at most; the last answer. Asks without a pause for the
/// first 20 ms, because a reduction takes microseconds, and then 5,000 times a second.
template <class Done>
bool poll(const Done& done, Seconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr Seconds kWithoutPause{0.02};
  const auto start = Clock::now();
  for (;;) {
    if (done()) return true;
    const Seconds passed = Clock::now() - start;
    if (passed > limit) return done();
    if (passed < kWithoutPause) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}
