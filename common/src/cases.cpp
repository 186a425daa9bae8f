// How a check's messages name a launch and a case.
#include <fmt/format.h>
#include <course/cases.cuh>

namespace course {

std::string counted(std::uint64_t n, const std::string& one, const std::string& many) {
  if (n == 1) return "1 " + one;
  return fmt::format("{} {}", n, many.empty() ? one + "s" : many);
}

std::string launch_text(const std::string& kernel, LaunchShape launch, std::size_t shared_bytes) {
  const std::string shared = shared_bytes == 0 ? "" : fmt::format(", {}", shared_bytes);
  return fmt::format("{}<<<{}, {}{}>>>", kernel, launch.grid, launch.block, shared);
}

std::string case_text(std::size_t n, const std::string& data, const std::string& kernel,
                      LaunchShape launch, std::size_t shared_bytes) {
  return fmt::format("n = {}: {}; {}", n, data, launch_text(kernel, launch, shared_bytes));
}

}  // namespace course
