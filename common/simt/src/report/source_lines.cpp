// Asks addr2line for source lines, and shortens the paths.
#include "report/source_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
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

/// What `addr2line` prints of all these calls; empty if the tool is missing.
std::string run_addr2line(const std::vector<const void*>& return_addresses) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  std::vector<std::string> words = {"addr2line", "-a", "-f", "-i", "-e", program_path()};
  for (const void* address : return_addresses) {
    words.push_back(fmt::format("0x{:x}", call_offset(address)));
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, words[0].c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n; failed == 0 && (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (failed == 0) waitpid(child, nullptr, 0);
  return text;
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
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t function_end = output.find('\n', at);
    if (function_end == std::string::npos) break;
    const std::size_t end = std::min(output.find('\n', function_end + 1), output.size());
    const std::string place = output.substr(function_end + 1, end - function_end - 1);
    if (best.file.empty() || !is_library_file(place)) best = parse_line(place);
    if (!is_library_file(place)) break;
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
  const std::string output = "\n" + run_addr2line(fresh);
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
  for (const void* address : return_addresses) {
    const SourceLine line = source_line(address);
    if (!is_library_file("/" + line.file)) return line;
  }
  return source_line(return_addresses.front());
}

bool is_above_the_device(const SourceLine& line) {
  return line.line > 0 && ("/" + line.file).find(SIMT_OWN_HEADERS) == std::string::npos &&
         line.file.find("/include/c++/") == std::string::npos;
}

std::string SourceLine::text() const { return line > 0 ? fmt::format("{}:{}", file, line) : file; }

}  // namespace simt
