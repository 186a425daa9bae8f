// What the values of a failed comparison have in common: facts that follow from the two arrays.
#pragma once

#include <course/verdict.cuh>

namespace course::detail {

/// The facts, the most telling first; a text for each.
void find_facts(const Differences& differences, WrongValues& values);

}  // namespace course::detail
