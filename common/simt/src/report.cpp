// Findings: where a code address stands in the source, and who is told.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "engine.hpp"

extern char** environ;

namespace simt {
namespace {

// ---- source lines -----------------------------------------------------------------------------

std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  return std::string(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
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

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// Files in which a learner has nothing to look for.
bool is_library_file(const std::string& file) {
  return contains(file, "/common/simt/include/") || contains(file, "/common/include/course/") ||
         contains(file, "/common/simt/src/") || contains(file, "/include/c++/") ||
         contains(file, "??");
}

/// The path from the repository's root on, if the file lies in it.
std::string short_path(const std::string& file) {
  for (const char* folder : {"/exercises/", "/solutions/", "/chapters/", "/common/"}) {
    const std::size_t at = file.rfind(folder);
    if (at != std::string::npos) return file.substr(at + 1);
  }
  return file;
}

SourceLine parse_line(std::string text) {  // "path:12 (discriminator 3)"
  text = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, 0};
  return {short_path(text.substr(0, colon)), std::atoi(text.c_str() + colon + 1)};
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

// ---- handler ------------------------------------------------------------------------------------

[[noreturn]] void exit_with_findings() {
  std::fflush(nullptr);
  _exit(66);
}

void print_and_fail(const Report& report) {
  static const int once = std::atexit(exit_with_findings);
  (void)once;
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", report.text);
}

ReportHandler& handler() {
  static ReportHandler h = print_and_fail;
  return h;
}

// ---- notes
// ------------------------------------------------------------------------------------------

struct Note {
  const char* text;
  const void* caller;
};
constexpr std::size_t kMostNotes = 8;
std::vector<Note> notes;

}  // namespace

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

std::string SourceLine::text() const { return line > 0 ? fmt::format("{}:{}", file, line) : file; }

void deliver(Report report) {
  // A copy: the handler may install another one.
  const ReportHandler current = handler();
  current(report);
}

ReportHandler set_report_handler(ReportHandler replacement) {
  if (!replacement) replacement = print_and_fail;
  return std::exchange(handler(), std::move(replacement));
}

const char* to_string(ReportKind kind) {
  switch (kind) {
    case ReportKind::race:
      return "data race";
    case ReportKind::out_of_bounds:
      return "out of bounds";
    case ReportKind::use_after_free:
      return "use after free";
    case ReportKind::uninitialised:
      return "uninitialised memory";
    case ReportKind::misaligned:
      return "misaligned access";
    case ReportKind::host_access:
      return "device pointer used by the host";
    case ReportKind::barrier:
      return "barrier or mask";
    case ReportKind::hang:
      return "endless loop";
    case ReportKind::trap:
      return "kernel stopped";
  }
  return "finding";
}

void note(const char* text, const void* caller) {
  const OutOfSight guard;
  const auto same = [&](const Note& n) { return n.text == text && n.caller == caller; };
  if (notes.size() < kMostNotes && std::none_of(notes.begin(), notes.end(), same)) {
    notes.push_back({text, caller});
  }
}

std::vector<std::string> take_notes() {
  std::vector<std::string> texts;
  for (const Note& n : notes) {  // two instructions of one line are one note
    std::string text = fmt::format("{}: {}", source_line(n.caller).text(), n.text);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  notes.clear();
  return texts;
}

}  // namespace simt
