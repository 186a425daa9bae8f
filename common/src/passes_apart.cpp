#include "passes_apart.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>

#include "check_reporter.hpp"

namespace course::runner {

bool passes_apart(const std::function<void()>& work, std::chrono::milliseconds limit) {
  constexpr useconds_t kBetweenLooks = 200;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const std::size_t before = run().failures.size();
    keep_next_failure();
    try {
      work();
    } catch (...) {
      _exit(1);
    }
    _exit(run().failures.size() == before ? 0 : 1);
  }
  if (child < 0) return false;
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) kill(child, SIGKILL);
    usleep(kBetweenLooks);
  }
  return status == 0;
}

}  // namespace course::runner
