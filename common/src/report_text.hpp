// What a learner reads of a report of the CPU device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check_result.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course::runner {

/// Where a case begins, among the launches of the program: those that it has asked for, and those that have run. A GPU does
/// not tell.
struct LaunchMark {
  std::size_t asked = 0, ran = 0;
};
LaunchMark launch_mark();
/// "launched: a<<<1, 32>>>, b<<<2, 32>>>", a line: what the file that is edited (COURSE_EDIT) has launched since. Empty for none.
std::string launches_text(const LaunchMark& since);
/// "no kernel has read [31] of x, which has 32 elements", a line for each of the first inputs that were read in part since, by
/// other lines than the check's.
std::string unread_text(const LaunchMark& since);

#if COURSE_CPU_DEVICE
std::vector<Access> accesses_of(const simt::Report& report);
/// The report's text. Where both accesses of a race are the check's, it asks for no change of them.
std::string text_for_learner(const simt::Report& report);
#endif

}  // namespace course::runner
