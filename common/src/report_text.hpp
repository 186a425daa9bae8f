// What a learner reads of a report of the CPU device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check_result.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>

namespace course::runner {

std::vector<Access> accesses_of(const simt::Report& report);
/// The report's text. Where both accesses of a race are the check's, it asks for no change of them.
std::string text_for_learner(const simt::Report& report);

/// "launched: a<<<1, 32>>>, b<<<2, 32>>>", a line: what the file that is edited (COURSE_EDIT) has launched, from launch
/// number `first` on. Empty for none.
std::string launches_text(std::size_t first);

}  // namespace course::runner
#endif
