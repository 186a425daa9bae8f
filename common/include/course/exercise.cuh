// The mark of an exercise that has not been begun: the line NOT_STARTED below its includes.
#pragma once

namespace course {
/// Set by NOT_STARTED; the checks' main skips everything while it is.
inline bool exercise_not_started = false;
}  // namespace course

/// A line of its own in an exercise. The test is skipped until the learner deletes that line.
#define NOT_STARTED \
  [[maybe_unused]] static const bool course_not_started = (::course::exercise_not_started = true);
