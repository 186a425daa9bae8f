// What is printed around a failure.
#pragma once

#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <string>
#include <vector>

#include "check_result.hpp"

namespace course::runner {

/// The lines of `text`, each two columns further right.
std::string indented(const std::string& text);

/// What the check says of the case that runs.
std::vector<std::string> case_messages(const Catch::AssertionStats& stats);
/// "x.cu:12".
std::string place_of(const Catch::AssertionResult& result);

/// The names of the test cases that failed after the first one, a line each.
std::string others(const Run& run);

/// What is printed below the failures of `run`: warnings, the seed, what to edit and to run.
std::string next_steps(const Run& run, const std::string& program);

}  // namespace course::runner
