// A check in several processes at the same time: where nothing else runs, a pass comes sooner. The test cases of a
// schedule are taken from the first one on by the process that the runner has started, and from the last one on
// by its helpers. What has failed in a helper runs again where all is told, so that a learner reads the same as from one process.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "check_result.hpp"

namespace course::runner {

/// What is to be known of a test case that a helper has run, and that has not failed.
struct CaseOutcome {
  static constexpr std::size_t kMostText = 512;
  bool passed = false, skipped = false;
  std::size_t comparisons = 0;
  char test[kMostText] = "", reason[kMostText] = "";  // if it was skipped, or left something out
  std::int64_t printed = 0, end = 0;                  // a part of what the helper has printed
  int helper = 0;

  void add_to(Run& run) const;
};
/// What the test case has done that has run meanwhile.
CaseOutcome outcome_between(const Run& before, const Run& after);

/// How many processes may run a check: COURSE_PROCESSES, without it 1.
std::size_t processes_of_check();

/// The test cases of all schedules, in memory that all processes share.
class SharedCases {
 public:
  SharedCases(std::size_t schedules, std::size_t cases);
  ~SharedCases();  // ends the helpers
  SharedCases(const SharedCases&) = delete;
  SharedCases& operator=(const SharedCases&) = delete;

  std::size_t cases() const { return cases_; }

  /// Starts a process that calls `help`, and then ends. It prints into a file in memory.
  void start_helper(const std::function<void()>& help);

  /// True for the first process that asks: it runs this test case.
  bool take(std::size_t schedule, std::size_t number);
  /// In a helper, after it has run a test case that has not failed. A test case that has failed is left as it is.
  void tell(std::size_t schedule, std::size_t number, const CaseOutcome& outcome);
  /// Waits for a test case that a helper has taken, and prints what it printed; null if it has not passed there.
  const CaseOutcome* wait_for(std::size_t schedule, std::size_t number);

 private:
  static constexpr int kNobody = -2, kMain = -1;  // from 0 on helpers

  struct Case {
    std::atomic<int> taker{kNobody};
    std::atomic<bool> is_told;
    CaseOutcome outcome;
  };
  struct Helper {
    pid_t process;
    int printed;  // a file
    bool has_ended;
  };
  Case& at(std::size_t schedule, std::size_t number) { return all_[schedule * cases_ + number]; }

  std::size_t cases_, bytes_;
  Case* all_ = nullptr;
  std::vector<Helper> helpers_;
  int me_ = kMain;
};

}  // namespace course::runner
