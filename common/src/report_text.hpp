// What a learner reads of a report of the CPU device.
#pragma once

#include <string>
#include <vector>

#include "check_result.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>

namespace course::runner {

std::vector<Access> accesses_of(const simt::Report& report);
/// The report's text. Where both accesses of a race are the check's, it asks for no change of them.
std::string text_for_learner(const simt::Report& report);

}  // namespace course::runner
#endif
