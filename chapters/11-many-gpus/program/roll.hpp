// What a rank says when the roll is called, and what follows from all answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

enum class Outcome : std::int32_t { missing, done, failed, timed_out };

/// What a rank says: a message of MPI, so of one size. Longer texts are cut.
struct Answer {
  Outcome outcome = Outcome::missing;
  std::uint64_t length = 0;  // elements that the rank brings to what comes next
  char step[64] = {};        // where it is
  char text[1024] = {};      // why it failed

  void set_step(std::string_view value) { copy(value, step, sizeof step); }
  void set_text(std::string_view value) { copy(value, text, sizeof text); }

 private:
  static void copy(std::string_view value, char* to, std::size_t room) {
    std::memcpy(to, value.data(), std::min(value.size(), room - 1));
  }
};
static_assert(std::is_trivially_copyable_v<Answer>);

/// What rank 0 makes of the answers of all ranks.
struct Verdict {
  std::string error;       // empty: all go on
  bool all_answer = true;  // false: some rank does not, or a collective still runs; so MPI_Finalize
                           // would wait for ever
};

/// `answers` by rank; `name` tells who a rank is, `seconds` how long they were waited for.
Verdict judge(const std::vector<Answer>& answers, const std::function<std::string(int)>& name,
              double seconds);
