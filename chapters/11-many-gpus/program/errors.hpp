// What can go wrong, by the exit code that tells it.
#pragma once

#include <stdexcept>

constexpr int kDone = 0;
constexpr int kFailed = 1;      // something failed while running: a rank, a device, a link, memory
constexpr int kBadOptions = 2;  // the options have to be changed
constexpr int kNotHere = 77;    // this build cannot do it: MPI or NCCL was missing

/// The options make no sense: exit code 2.
struct BadOptions : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something failed on this rank: exit code 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something failed on one rank or more, all ranks know it, and all throw the same: exit code 1.
struct TeamFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A collective did not end in time, or lost another rank: the roll shows which one is missing.
struct TimedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The program was built without what this needs: exit code 77.
struct NotHere : std::runtime_error {
  using std::runtime_error::runtime_error;
};
