// Programs that use one GPU take turns: `meson test` starts one test per core, and on a machine with
// 64 cores and one GPU, 64 programs at the same time slow each other down until they time out.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace course {

/// The right to use a device, together with a limited number of other programs; given back on
/// destruction, and by the system if a program crashes. A turn is a lock on a file: it works between programs of all users.
class Turn {
 public:
  /// One of the turns 0 to at_once - 1 of the device called `name`, without waiting; empty if all are
  /// taken. The lock files are in `folder`, which must exist. If none can be opened there, the turn is
  /// granted without a lock: that is no reason to refuse a check.
  static std::optional<Turn> try_take(const std::filesystem::path& folder, const std::string& name,
                                      unsigned at_once);

  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&& other) noexcept;
  ~Turn();

 private:
  explicit Turn(int file) : file_(file) {}
  int file_ = -1;  // -1: nothing to give back
};

/// Waits for a turn on the current GPU, and returns it; on the CPU device, at once and empty. Calls
/// `on_wait` once if it takes longer than two seconds. Creates no CUDA context, so that programs that
/// wait take no memory of the GPU.
///
/// COURSE_GPU_TURNS is the number of programs that may use a device at the same time, 8 unless set.
/// @throws std::invalid_argument if it is not a number above 0
std::optional<Turn> take_gpu_turn(const std::function<void()>& on_wait);

}  // namespace course
