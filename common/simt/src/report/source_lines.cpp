// Asks addr2line for source lines, and shortens the paths.
#include "report/source_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/program.hpp"
#include "simt/testing.hpp"

extern char** environ;

namespace simt {
namespace {

std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  if (n > 0) return std::string(path.data(), static_cast<std::size_t>(n));
  // Without /proc, as in a sandbox: the name by which it was started.
  const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return name == nullptr ? "" : name;
}

/// The return address is the instruction after the call: one byte before belongs to the call.
std::uint32_t call_offset(const void* return_address) { return pc_of(return_address) - 1; }

/// addr2line, which waits for addresses as long as this process lives: it reads the program's debug information once,
/// and that takes most of its time.
class Addr2line {
 public:
  Addr2line() : owner_(getpid()) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    std::string words[] = {"addr2line", "-a", "-f", "-i", "-e", program_path()};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child_, words[0].c_str(), &actions, nullptr, argv.data(), environ) == 0) {
      socket_ = ends[0];
    } else {
      close(ends[0]);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }
  Addr2line(const Addr2line&) = delete;
  Addr2line& operator=(const Addr2line&) = delete;
  ~Addr2line() {
    if (socket_ < 0) return;
    close(socket_);
    if (!is_of_this_process()) return;
    kill(child_, SIGTERM);
    TEMP_FAILURE_RETRY(waitpid(child_, nullptr, 0));
  }

  /// And not of the process that has forked it.
  bool is_of_this_process() const { return owner_ == getpid(); }

  /// What it prints of all these calls; empty if the tool is missing or has ended.
  std::string ask(const std::vector<const void*>& return_addresses) const {
    std::string question;
    for (const void* address : return_addresses) {
      question += fmt::format("0x{:x}\n", call_offset(address));
    }
    question += "0x0\n";  // no code: its answer, of three lines, is the end
    for (std::size_t sent = 0; sent < question.size();) {
      const ssize_t n = TEMP_FAILURE_RETRY(
          send(socket_, question.data() + sent, question.size() - sent, MSG_NOSIGNAL));
      if (n <= 0) return "";
      sent += static_cast<std::size_t>(n);
    }
    std::string text = "\n";
    constexpr std::string_view kLast = "\n0x0000000000000000\n";
    std::array<char, 4096> buffer;
    for (;;) {
      const std::size_t last = text.find(kLast);
      if (last != std::string::npos &&
          std::count(text.begin() + static_cast<std::ptrdiff_t>(last + kLast.size()), text.end(),
                     '\n') == 2) {
        return text.substr(0, last + 1);
      }
      const ssize_t n = TEMP_FAILURE_RETRY(read(socket_, buffer.data(), buffer.size()));
      if (n <= 0) return "";
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  pid_t owner_, child_ = 0;
  int socket_ = -1;
};

std::optional<Addr2line>& addr2line() {
  static auto& process = *new std::optional<Addr2line>;
  return process;
}

std::string run_addr2line(const std::vector<const void*>& return_addresses) {
  static const int at_exit = std::atexit(end_source_lines);
  (void)at_exit;
  std::optional<Addr2line>& process = addr2line();
  if (!process || !process->is_of_this_process()) process.emplace();
  return process->ask(return_addresses);
}

// ---- files --------------------------------------------------------------------------------------

// The build says which project this library is part of: folders between colons.
#ifndef SIMT_REPOSITORY_FOLDERS  // at the top of the repository: paths are shown from there on
#define SIMT_REPOSITORY_FOLDERS ""
#endif
#ifndef SIMT_OWN_HEADERS  // the headers of the CPU device
#define SIMT_OWN_HEADERS "/simt/include/"
#endif
#ifndef SIMT_LIBRARY_FOLDERS  // in which the reader of a report has nothing to look for
#define SIMT_LIBRARY_FOLDERS ""
#endif

std::vector<std::string> split_at_colons(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_library_file(const std::string& file) {
  static const auto& folders =
      *new std::vector<std::string>(split_at_colons(SIMT_LIBRARY_FOLDERS ":/include/c++/:?\?"));
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return file.find(folder) != std::string::npos;
  });
}

std::string& folder_of_reader() {
  static auto& folder = *new std::string;
  return folder;
}

/// The path from the repository's top on, if the file is in it.
std::string repo_relative_path(const std::string& file) {
  static const auto& folders =
      *new std::vector<std::string>(split_at_colons(SIMT_REPOSITORY_FOLDERS));
  for (const std::string& folder : folders) {
    const std::size_t at = file.rfind(folder);
    if (at != std::string::npos) return file.substr(at + 1);
  }
  return file;
}

/// The path as a report has it.
std::string shown_path(const std::string& file) {
  const std::string& folder = folder_of_reader();
  if (folder.empty() || is_library_file(file)) return repo_relative_path(file);
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  const std::string relative = path.lexically_relative(folder);
  return relative.empty() || relative.starts_with("../../") ? path.string() : relative;
}

// ---- lines --------------------------------------------------------------------------------------

SourceLine parse_line(std::string text) {  // "path:12 (discriminator 3)"
  text = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, 0};
  return {shown_path(text.substr(0, colon)), std::atoi(text.c_str() + colon + 1)};
}

/// The line of one call from its part of the output: pairs of lines, function and place, from the
/// innermost inlined function outwards.
SourceLine choose_line(const std::string& output, const void* return_address) {
  SourceLine best;
  std::string in_header;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t function_end = output.find('\n', at);
    if (function_end == std::string::npos) break;
    const std::size_t end = std::min(output.find('\n', function_end + 1), output.size());
    const std::string place = output.substr(function_end + 1, end - function_end - 1);
    if (!is_library_file(place)) {
      best = parse_line(place);
      best.function = output.substr(at, function_end - at);
      best.in_header = in_header;
      break;
    }
    const SourceLine line = parse_line(place);
    if (in_header.empty() && is_above_the_device(line)) in_header = line.text();
    if (best.file.empty()) {
      best = line;
      best.function = output.substr(at, function_end - at);
    }
    at = end + 1;
  }
  if (best.file.empty()) {
    best.file = fmt::format("code address 0x{:x} (install binutils)", call_offset(return_address));
  }
  return best;
}

std::unordered_map<const void*, SourceLine>& known_lines() {
  static auto& map = *new std::unordered_map<const void*, SourceLine>;
  return map;
}

}  // namespace

void end_source_lines() { addr2line().reset(); }

void show_paths_from(const std::string& folder) { folder_of_reader() = folder; }

SourceLine source_line(const void* return_address) {
  look_up_lines({return_address});
  return known_lines().at(return_address);
}

void look_up_lines(const std::vector<const void*>& return_addresses) {
  std::vector<const void*> fresh;
  for (const void* address : return_addresses) {
    if (known_lines().try_emplace(address).second) fresh.push_back(address);
  }
  if (fresh.empty()) return;
  const std::string output = run_addr2line(fresh);
  // Each call's part begins with a line that has its address.
  std::size_t at = output.find("\n0x");
  for (const void* address : fresh) {
    const std::size_t begin = at == std::string::npos ? at : output.find('\n', at + 1);
    at = begin == std::string::npos ? begin : output.find("\n0x", begin);
    const bool found = begin != std::string::npos;
    const std::string part = found ? output.substr(begin + 1, at - begin) : "";
    known_lines()[address] = choose_line(part, address);
  }
}

SourceLine source_line(const std::vector<const void*>& return_addresses) {
  std::string in_header;
  for (const void* address : return_addresses) {
    SourceLine line = source_line(address);
    if (!is_in_library(line)) {
      if (!in_header.empty()) line.in_header = in_header;
      return line;
    }
    if (in_header.empty() && is_above_the_device(line)) in_header = line.text();
  }
  return source_line(return_addresses.front());
}

bool is_in_library(const SourceLine& line) { return is_library_file("/" + line.file); }

bool is_above_the_device(const SourceLine& line) {
  return line.line > 0 && ("/" + line.file).find(SIMT_OWN_HEADERS) == std::string::npos &&
         line.file.find("/include/c++/") == std::string::npos;
}

std::string SourceLine::text() const { return line > 0 ? fmt::format("{}:{}", file, line) : file; }
std::string SourceLine::full_text() const {
  return in_header.empty() ? text() : fmt::format("{}, in {}", text(), in_header);
}

}  // namespace simt
