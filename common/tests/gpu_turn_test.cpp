// Turns on a device: so many at once, given back, and held by a program that is another one.
#include "gpu_turn.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <course/device.cuh>

namespace {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "turns-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("as many turns as can be had at once, and one more when one is given back") {
  const Folder folder;
  auto first = course::Turn::try_take(folder.path, "gpu", 2);
  auto second = course::Turn::try_take(folder.path, "gpu", 2);
  CHECK(first.has_value());
  CHECK(second.has_value());
  CHECK_FALSE(course::Turn::try_take(folder.path, "gpu", 2).has_value());
  first.reset();
  CHECK(course::Turn::try_take(folder.path, "gpu", 2).has_value());
}

TEST_CASE("each device has turns of its own") {
  const Folder folder;
  const auto first = course::Turn::try_take(folder.path, "gpu-0", 1);
  CHECK(course::Turn::try_take(folder.path, "gpu-1", 1).has_value());
  CHECK_FALSE(course::Turn::try_take(folder.path, "gpu-0", 1).has_value());
}

TEST_CASE("a turn moves with its owner") {
  const Folder folder;
  auto first = course::Turn::try_take(folder.path, "gpu", 1);
  std::optional<course::Turn> owner = std::move(first);
  first.reset();
  CHECK_FALSE(course::Turn::try_take(folder.path, "gpu", 1).has_value());
  owner.reset();
  CHECK(course::Turn::try_take(folder.path, "gpu", 1).has_value());
}

TEST_CASE("another program holds its turn until it ends, however it ends") {
  const Folder folder;
  int begun[2], end[2];
  REQUIRE(pipe(begun) == 0);
  REQUIRE(pipe(end) == 0);
  const pid_t other = fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    const auto turn = course::Turn::try_take(folder.path, "gpu", 1);
    char byte = turn.has_value() ? 1 : 0;
    if (write(begun[1], &byte, 1) != 1) _exit(1);
    if (read(end[0], &byte, 1) != 1) _exit(1);
    raise(SIGKILL);
    _exit(1);
  }
  char byte = 0;
  REQUIRE(read(begun[0], &byte, 1) == 1);
  CHECK(byte == 1);
  CHECK_FALSE(course::Turn::try_take(folder.path, "gpu", 1).has_value());
  REQUIRE(write(end[1], &byte, 1) == 1);
  int status = 0;
  REQUIRE(waitpid(other, &status, 0) == other);
  CHECK(WIFSIGNALED(status));
  CHECK(course::Turn::try_take(folder.path, "gpu", 1).has_value());
}

TEST_CASE("where no lock file can be made, nothing waits") {
  const auto first = course::Turn::try_take("/no/such/folder", "gpu", 1);
  CHECK(first.has_value());
  CHECK(course::Turn::try_take("/no/such/folder", "gpu", 1).has_value());
}

TEST_CASE("COURSE_GPU_TURNS is a number above 0") {
  for (const char* text : {"", "0", "-1", "two", "3x"}) {
    setenv("COURSE_GPU_TURNS", text, 1);
    CHECK_THROWS_AS(course::take_gpu_turn([] {}), std::invalid_argument);
  }
  setenv("COURSE_GPU_TURNS", "3", 1);
  CHECK(course::take_gpu_turn([] {}).has_value() == !course::kCpuDevice);
  unsetenv("COURSE_GPU_TURNS");
}
