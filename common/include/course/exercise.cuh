// The mark of an exercise that nobody has begun.
#pragma once

namespace course {
/// Set by NOT_STARTED; the checks' main skips everything while it is.
inline bool exercise_not_started = false;
}  // namespace course

/// Stands on a line of its own in an exercise. Its test is skipped until the line is deleted.
#define NOT_STARTED \
  [[maybe_unused]] static const bool course_not_started = (::course::exercise_not_started = true);
