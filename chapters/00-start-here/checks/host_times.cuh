// What the check of host_program expects of a time.
#pragma once

#include <course/verdict.cuh>
#include <cstdint>
#include <string>

namespace host_runs {

/// Ok if a time is neither shorter than the kernel nor longer than what lies around it alone; for
/// rounding, a microsecond and a hundred-thousandth are allowed.
inline course::Verdict time_within(double microseconds, double kernel, double room) {
  const auto rounded = [](double us) { return course::number_text(static_cast<std::int64_t>(us)); };
  const std::string found = ", found " + course::number_text(static_cast<float>(microseconds));
  if (!(microseconds * 1.00001 + 1 >= kernel)) {
    const bool is_milliseconds = microseconds * 1001 >= kernel;
    return {false, "microseconds: expected at least " + rounded(kernel) + found +
                       (is_milliseconds
                            ? "\nAre they milliseconds, as cudaEventElapsedTime gives them?"
                            : "\nThe kernel alone took so long. A launch only starts it: wait for "
                              "its end before the clock is read,\nand look whether the call that "
                              "tells the time fails.")};
  }
  if (!(microseconds <= room * 1.00001 + 1)) {
    return {false,
            "microseconds: expected at most " + rounded(room) + found +
                "\nSo long was it from the last copy, memset or allocation before the kernel "
                "to the first one after it:\nthe time contains one of them, or has another "
                "unit."};
  }
  return {};
}

}  // namespace host_runs
