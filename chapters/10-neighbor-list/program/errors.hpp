// What can go wrong, by the exit code that tells it.
#pragma once

#include <stdexcept>

constexpr int kDone = 0;
constexpr int kFailed = 1;    // something failed while running: the device, memory, a full disk
constexpr int kBadInput = 2;  // the arguments or the input have to be changed; nothing was written

/// The arguments or the input make no sense: exit code 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something failed that is no argument's or input's fault: exit code 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
