// What the run of a check found, and the file that says so to the course's tools: course.result,
// version 1, in common/docs/schemas.md.
#pragma once

#include <course/verdict.cuh>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace course::runner {

/// How a run ended; the exit code follows from it, as Meson understands it.
enum class Verdict { passed, failed, rejected, not_rejected, skipped, not_started };
int exit_code(Verdict verdict);

/// What a failed assertion is, and what a report of the CPU device is.
enum class FailureKind {
  check,      // a comparison of the check
  finding,    // of the CPU device's checker, or of the GPU's memory check
  exception,  // one that the check did not expect
  crash,
  time_out  // it had to be ended
};

/// An access of a thread, as a report names it.
struct Access {
  std::string kind = {};  // "write", "atomic", ...
  std::string file = {};
  int line = 0;
  std::string block = {}, thread = {};
};

/// What the CPU device's checker found.
struct Finding {
  std::string kind = {};  // "data_race", ...
  std::string kernel = {};
  std::string object = {};  // what the accesses are to: "d_sum"; empty if it has no name
  std::vector<Access> accesses = {};
};

/// A failed assertion or a report, as the learner sees it.
struct Failure {
  std::string test = {};     // name of the test case, and of the sections in it
  std::string text = {};     // what was expected and found
  std::string details = {};  // INFO messages and remarks of the CPU device
  std::string file = {};     // of the check; of a report, the access that completed it
  int line = 0;
  FailureKind kind = FailureKind::check;
  bool is_rejection = false;  // a check or the checker found it: no crash, no stray exception
  bool follows_seed = false;  // the test case tries other cases under each schedule
  Finding finding = {};       // where kind says so, and the CPU device ran
  std::shared_ptr<const WrongValues> values = {};  // of a comparison of values
  std::string nearest_passed =
      {};  // a sentence on the nearest case that has passed; empty if none is near
};

/// A counter of the CPU device, as counters.def describes it, and its value.
struct Count {
  std::string name = {}, what = {}, costs = {};
  std::uint64_t value = 0;
};
using AnswerCounts = std::vector<Count>;

/// A number that follows from the comparisons of a run, in their order: of which test case, at which line. Those that not every
/// answer gets (may_leave_out()) are not in it. The judge of a class compares it with that of the solution's run, which began with the same word, COURSE_TRANSCRIPT.
class Transcript {
 public:
  Transcript();
  void add(std::string_view text);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14'695'981'039'346'656'037U;  // where the hash FNV-1a begins
};

/// What is known about the schedule that runs, and at the end about the run.
struct Run {
  bool expects_rejection = false;
  std::uint64_t seed = 0;
  std::size_t schedules = 0;  // that were begun

  std::size_t passed = 0, failed = 0, skipped = 0;  // test cases
  std::size_t comparisons = 0;                      // REQUIREs and CHECKs in them
  bool has_compared = false;                        // under this schedule, or one before
  std::vector<Failure> failures = {};               // the first one of each test case
  std::map<std::string, std::string> skips = {};    // test case, reason
  Transcript transcript = {};                       // of all schedules so far
  AnswerCounts counts = {};  // of an answer that has passed, if it was counted
};

/// Forgets what the file said of an earlier run: a run that ends in another way than main()'s leaves
/// none.
void remove_result();

/// Writes the result to the socket or file that COURSE_RESULT names. The name is taken out of the environment
/// before an answer's first line runs. `reason` is one line for a reader.
void write_result(const Run& run, const std::string& program, Verdict verdict,
                  const std::string& reason);

/// The same for a check that may have to end at any moment: the result is made now, and sent by
/// send_prepared_result(), which a signal's handler may call.
void prepare_result(const Run& run, const std::string& program, Verdict verdict,
                    const std::string& reason);
void send_prepared_result();

/// From here on this process sends no result: another one does.
void send_no_result();

/// The first line of a text.
std::string first_line(const std::string& text);

}  // namespace course::runner
