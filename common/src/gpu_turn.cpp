// Turns as locks on files: one file for each program that may use a GPU at the same time.
#include "gpu_turn.hpp"

#include <course/device.cuh>
#include <course/error.cuh>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace course {
namespace {

/// On an H200, with 32 processes of `meson test`: the 39 solutions take 16 s with 4 at once and with
/// 16, where host_program's times were refused now and then. With 8 at once all tests passed.
constexpr unsigned kTurnsAtOnce = 8;
constexpr auto kLookAgain = std::chrono::milliseconds(20);
constexpr auto kSayThatItWaits = std::chrono::seconds(2);

/// A lock needs no right to write: programs of several users can share a file.
int open_lock(const std::filesystem::path& file) {
  const int found = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (found >= 0) return found;
  return open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
}

unsigned turns_at_once() {
  const char* const text = std::getenv("COURSE_GPU_TURNS");
  if (text == nullptr) return kTurnsAtOnce;
  const std::string_view digits = text;
  unsigned turns = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), turns);
  if (error != std::errc() || end != digits.end() || turns == 0) {
    throw std::invalid_argument("COURSE_GPU_TURNS must be a number above 0, and is '" +
                                std::string(digits) + "'");
  }
  return turns;
}

/// What tells this GPU from the others of the machine, whatever CUDA_VISIBLE_DEVICES hides.
std::string name_of_current_gpu() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  char address[32] = {};
  CUDA_CHECK(cudaDeviceGetPCIBusId(address, sizeof address, device));
  return std::string("cuda-atomics-course-gpu-") + address;
}

}  // namespace

Turn::Turn(Turn&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

Turn& Turn::operator=(Turn&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

Turn::~Turn() {
  if (file_ >= 0) ::close(file_);
}

std::optional<Turn> Turn::try_take(const std::filesystem::path& folder, const std::string& name,
                                   unsigned at_once) {
  for (unsigned i = 0; i < at_once; ++i) {
    const int file = open_lock(folder / (name + "-" + std::to_string(i) + ".lock"));
    if (file < 0) return Turn(-1);
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return Turn(file);
    ::close(file);
  }
  return std::nullopt;
}

std::optional<Turn> take_gpu_turn(const std::function<void()>& on_wait) {
  const unsigned at_once = turns_at_once();
  if (kCpuDevice) return std::nullopt;
  const std::string name = name_of_current_gpu();
  const auto folder = std::filesystem::temp_directory_path();
  const auto begin = std::chrono::steady_clock::now();
  for (bool has_said = false;; std::this_thread::sleep_for(kLookAgain)) {
    if (auto turn = Turn::try_take(folder, name, at_once)) return turn;
    if (has_said || std::chrono::steady_clock::now() - begin < kSayThatItWaits) continue;
    on_wait();
    has_said = true;
  }
}

}  // namespace course
