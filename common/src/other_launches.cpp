// Beside a failure it is told in which other launches the same case is right.
#include <fmt/format.h>

#include <chrono>
#include <course/check.cuh>
#include <course/devices.cuh>
#include <functional>
#include <string>

#include "check_reporter.hpp"
#include "passes_apart.hpp"

namespace course {
namespace {

/// "The same case is right with <<<1, 32>>>; it is wrong with <<<1, 64>>>, too." Empty if it is right in none that was tried.
std::string other_launches(LaunchShape launch, const std::function<void(LaunchShape)>& work) {
  constexpr std::chrono::milliseconds kForAll{700}, kForOne{400};
  const auto begin = std::chrono::steady_clock::now();
  std::string right, wrong;
  for (const LaunchShape other : {LaunchShape{1, 32}, LaunchShape{1, 64}, LaunchShape{1, 128},
                                  LaunchShape{2, 128}, LaunchShape{1, 256}}) {
    if (std::chrono::steady_clock::now() - begin > kForAll) break;
    if (other.grid == launch.grid && other.block == launch.block) continue;
    const auto anew = [&] {
      static_cast<void>(detail::reset_devices());  // an error that lasts is of the first launch
      work(other);
    };
    std::string& list = runner::passes_apart(anew, kForOne) ? right : wrong;
    list += fmt::format("{}<<<{}, {}>>>", list.empty() ? "" : ", ", other.grid, other.block);
  }
  if (right.empty()) return "";
  return fmt::format("The same case is right with {}{}.", right,
                     wrong.empty() ? "" : "; it is wrong with " + wrong + ", too");
}

}  // namespace

void in_launch(LaunchShape launch, const std::function<void(LaunchShape)>& work) {
  const auto tell = [&] {
    if (kCpuDevice && runner::lacks_near_case())
      runner::tell_near_case(other_launches(launch, work));
  };
  if (!runner::run().failures.empty()) return work(launch);
  try {
    work(launch);
  } catch (...) {
    tell();
    throw;
  }
  tell();
}

}  // namespace course
