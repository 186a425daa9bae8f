// Keeps the checker from the runtime's own accesses.
#pragma once

namespace simt {

inline bool accesses_are_ignored = false;

/// While one lives on a CUDA thread, accesses are the runtime's own. Containers of common types
/// need it: the program may bring the same template instantiation, built with the kernel's checks,
/// and the linker keeps only one of the two. Threads must not be switched meanwhile.
class ScopedIgnore {
 public:
  ScopedIgnore() : before_(accesses_are_ignored) { accesses_are_ignored = true; }
  ~ScopedIgnore() { accesses_are_ignored = before_; }
  ScopedIgnore(const ScopedIgnore&) = delete;
  ScopedIgnore& operator=(const ScopedIgnore&) = delete;

 private:
  bool before_;
};

}  // namespace simt
