#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "errors.hpp"

namespace {

/// The names of unfinished files, for the handler below, which may call next to nothing.
std::array<std::array<char, 4096>, 4> unfinished{};

extern "C" void remove_unfinished(int signal) {
  for (const auto& name : unfinished) {
    if (name[0] != '\0') unlink(name.data());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Has a file removed if the program is interrupted; gives the slot to forget it by, or -1.
int remember(const std::string& name) {
  for (std::size_t slot = 0; slot < unfinished.size(); ++slot) {
    if (unfinished[slot][0] != '\0' || name.size() >= unfinished[slot].size()) continue;
    std::memcpy(unfinished[slot].data() + 1, name.c_str() + 1, name.size());
    unfinished[slot][0] = name[0];
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ}) {
      // What nohup or a shell had ignored stays ignored.
      if (std::signal(signal, remove_unfinished) == SIG_IGN) std::signal(signal, SIG_IGN);
    }
    return static_cast<int>(slot);
  }
  return -1;
}

[[noreturn]] void unwritable(const std::string& path, const std::string& why) {
  throw BadInput(fmt::format("{}: cannot be written: {}", path, why));
}

/// The number in "-", /dev/stdout, /dev/fd/3 and the like; -1 for every other path. The file of such
/// a name is open already, and may hold something: it must be neither opened anew nor replaced.
int open_already(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.compare(0, folder.size(), folder) != 0) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    const auto [stopped, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (stopped == end && error == std::errc{}) return number;
  }
  return -1;
}

}  // namespace

std::string behind_links(std::string path) {
  std::error_code error;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = (std::filesystem::path(path).parent_path() / next).string();
  }
  return path;
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  if (path.empty()) throw BadInput("a file to write to has an empty name");
  if (const int number = open_already(path); number >= 0) {
    const int copy = dup(number);
    file_ = copy < 0 ? nullptr : fdopen(copy, "wb");
    if (file_ == nullptr) unwritable(path_, std::strerror(EBADF));
    is_direct_ = true;
    return;
  }
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) unwritable(path_, std::strerror(errno));
  if (exists && S_ISDIR(status.st_mode)) unwritable(path_, std::strerror(EISDIR));
  if (exists && access(target_.c_str(), W_OK) != 0) unwritable(path_, std::strerror(errno));
  if (exists && !S_ISREG(status.st_mode)) {
    file_ = std::fopen(target_.c_str(), "wb");
    if (file_ == nullptr) unwritable(path_, std::strerror(errno));
    is_direct_ = true;
    return;
  }
  target_ = behind_links(path);
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  int descriptor = -1;
  for (int attempt = 0; descriptor < 0 && attempt < 100; ++attempt) {
    temporary_ = (folder / fmt::format("neighbors-{}-{}.tmp", getpid(), attempt)).string();
    descriptor = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) {
    temporary_.clear();
    unwritable(path_, std::strerror(errno));
  }
  slot_ = remember(temporary_);
  if (exists) static_cast<void>(fchmod(descriptor, status.st_mode & 07777));
  file_ = fdopen(descriptor, "wb");
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (slot_ >= 0) unfinished[static_cast<std::size_t>(slot_)][0] = '\0';
}

void OutputFile::fail(int error) const {
  throw Failure(fmt::format("{}: writing failed: {}", path_, std::strerror(error)));
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail(errno);
}

void OutputFile::finish() {
  std::FILE* const file = std::exchange(file_, nullptr);
  int error = std::fflush(file) == 0 ? 0 : errno;
  if (error == 0 && !is_direct_ && fsync(fileno(file)) != 0) error = errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  if (error != 0) fail(error);
}

void OutputFile::commit() {
  if (is_direct_) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}
