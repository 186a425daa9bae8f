// Whether a part of a check passes, without a word and without a trace.
#pragma once

#include <chrono>
#include <functional>

namespace course::runner {

/// Whether `work` finds nothing wrong in a process of its own, which says nothing and changes nothing here. That is ended, and has not
/// passed, if it takes longer than `limit`.
bool passes_apart(const std::function<void()>& work,
                  std::chrono::milliseconds limit = std::chrono::hours(1));

}  // namespace course::runner
