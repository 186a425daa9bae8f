// The sizes and launches of a check's cases, and how its messages name them.
#include <fmt/format.h>
#include <course/cases.cuh>

namespace course {

std::string counted(std::uint64_t n, const std::string& one, const std::string& many) {
  if (n == 1) return "1 " + one;
  return fmt::format("{} {}", n, many.empty() ? one + "s" : many);
}

std::string launch_text(const std::string& kernel, LaunchShape launch, std::size_t shared_bytes) {
  const std::string shared = shared_bytes == 0 ? "" : fmt::format(", {}", shared_bytes);
  const dim3 threads = launch.threads();
  const std::string block = launch.is_folded
                                ? fmt::format("dim3({}, {}, {})", threads.x, threads.y, threads.z)
                                : std::to_string(launch.block);
  return fmt::format("{}<<<{}, {}{}>>>", kernel, launch.grid, block, shared);
}

std::string case_text(std::size_t n, const std::string& data, const std::string& kernel,
                      LaunchShape launch, std::size_t shared_bytes) {
  const std::string launched = launch_text(kernel, launch, shared_bytes);
  return n == 0 ? "n = 0; " + launched : fmt::format("n = {}: {}; {}", n, data, launched);
}

Verdict all_right(const std::vector<Prediction>& predictions, const std::string& part) {
  std::string text;
  std::size_t right = 0;
  for (const auto& [launch, predicted, found, advice] : predictions) {
    if (predicted == found) {
      ++right;
    } else if (predicted == Prediction::Counts{0, 0}) {
      text += fmt::format("\n{}: no prediction yet", launch);
    } else {
      text +=
          fmt::format("\n{}: predicted {} and {}, {} {} and {}\n  {}", launch,
                      counted(predicted.requests, "request"), counted(predicted.parts, part),
                      kCpuDevice ? "measured" : "expected", found.requests, found.parts, advice);
    }
  }
  if (right == predictions.size()) return {};
  return {false, fmt::format("{} of {} predictions are right{}", right, predictions.size(), text)};
}

std::vector<std::size_t> all_sizes() {
  std::vector<std::size_t> sizes = kSizes;
  sizes.push_back(kBigSize);
  return sizes;
}

std::string too_few_threads(LaunchShape launch, std::size_t items, const char* what) {
  const std::size_t threads = std::size_t{launch.grid} * launch.block;
  if (threads >= items) return "";
  return "; " + std::to_string(threads) + (threads == 1 ? " thread for " : " threads for ") +
         std::to_string(items) + " " + what +
         (threads == 1 ? ": it takes more than one" : ": some take more than one");
}

std::vector<LaunchShape> launch_shapes(std::size_t n) {
  std::vector<LaunchShape> shapes;
  for (const unsigned block : {32u, 96u, 128u, 1024u}) {
    const auto exact = static_cast<unsigned>((n + block - 1) / block);
    shapes.insert(shapes.end(), {{1, block}, {3, block}, {exact + 2, block}});
    if (exact > 0) shapes.push_back({exact, block});
  }
  return shapes;
}

}  // namespace course
