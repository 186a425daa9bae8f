// The cases of a check that have passed: beside a failure the nearest one is told.
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace course::runner {

class PassedCases {
 public:
  /// A comparison at `place`, "file:12", has passed in the case that these messages describe. `number` is
  /// another one for another case.
  void add(std::size_t number, const std::vector<std::string>& messages, const std::string& place);
  void clear() { cases_.clear(); }

  /// "The case with "n = 1024" instead of "n = 1025" passed.": the one that differs in one property, or also
  /// in the grid of its launch. The comparison at `place` has passed there; any place will do if that is empty.
  /// Empty if there is none.
  std::string nearest(const std::vector<std::string>& messages, const std::string& place) const;

 private:
  struct Case {
    std::size_t number;
    std::vector<std::string> properties;
    std::set<std::string> places;
  };
  std::deque<Case> cases_;  // the oldest first
};

}  // namespace course::runner
