// What is printed around a failure.
#pragma once

#include <string>

#include "check_result.hpp"

namespace course::runner {

/// The lines of `text`, each two columns further right.
std::string indented(const std::string& text);

/// The names of the test cases that failed after the first one, a line each.
std::string others(const Run& run);

/// What is printed below the failures of `run`: warnings, the seed, what to edit and to run.
std::string next_steps(const Run& run, const std::string& program);

}  // namespace course::runner
