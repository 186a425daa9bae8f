#include "roll.hpp"

#include <fmt/format.h>

namespace {

/// Up to four lines, and how many more there would be.
std::string first_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    text += (i == 0 ? "" : "\n") + lines[i];
  }
  if (lines.size() > kMost) text += fmt::format("\nand {} ranks more", lines.size() - kMost);
  return text;
}

/// A line for each rank whose answer is one of `wanted`.
std::vector<std::string> lines_of(const std::vector<Answer>& answers,
                                  const std::function<bool(const Answer&)>& wanted,
                                  const std::function<std::string(int, const Answer&)>& line) {
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    if (wanted(answers[rank])) lines.push_back(line(static_cast<int>(rank), answers[rank]));
  }
  return lines;
}

}  // namespace

Verdict judge(const std::vector<Answer>& answers, const std::function<std::string(int)>& name,
              double seconds) {
  const Answer& first = answers[0];  // of the rank that judges: never missing
  const auto is = [](Outcome outcome) {
    return [outcome](const Answer& answer) { return answer.outcome == outcome; };
  };
  const auto missing = lines_of(answers, is(Outcome::missing), [&](int rank, const Answer&) {
    return fmt::format("{} does not answer: after {} rank 0 has waited {:.3g} s for it", name(rank),
                       first.step, seconds);
  });
  const auto failed = lines_of(answers, is(Outcome::failed), [&](int rank, const Answer& answer) {
    return fmt::format("{}: {}: {}", name(rank), answer.step, answer.text);
  });
  const auto late = lines_of(answers, is(Outcome::timed_out), [&](int rank, const Answer& answer) {
    return fmt::format("{}: {}: {}; all ranks answer", name(rank), answer.step, answer.text);
  });
  const bool all_answer = missing.empty() && late.empty();
  if (!failed.empty()) return {first_lines(failed), all_answer};
  if (!missing.empty()) return {first_lines(missing), false};
  if (!late.empty()) return {first_lines(late), false};

  const auto elsewhere = lines_of(
      answers, [&](const Answer& answer) { return std::strcmp(answer.step, first.step) != 0; },
      [&](int rank, const Answer& answer) {
        return fmt::format("{} is at {}, {} at {}: all ranks need the same options", name(rank),
                           answer.step, name(0), first.step);
      });
  if (!elsewhere.empty()) return {first_lines(elsewhere), false};
  const auto unequal = lines_of(
      answers, [&](const Answer& answer) { return answer.length != first.length; },
      [&](int rank, const Answer& answer) {
        return fmt::format(
            "{} brings {} elements, rank 0 {}: an all-reduce adds element by element", name(rank),
            answer.length, first.length);
      });
  return {first_lines(unequal), true};
}
