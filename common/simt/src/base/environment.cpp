// Reads the variables that begin with SIMT_, and refuses what it does not know.
#include "base/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "base/limits.hpp"

namespace simt {
namespace {

constexpr std::array<std::string_view, 9> kNames = {
    "SIMT_SEED",         "SIMT_DEVICES",      "SIMT_PEER_ACCESS",
    "SIMT_HOST_ATOMICS", "SIMT_TRACE",        "SIMT_TRACE_KERNEL",
    "SIMT_TRACE_BLOCKS", "SIMT_TRACE_EVENTS", "SIMT_TRACE_LAUNCHES"};

[[noreturn]] void refuse(const std::string& message) {
  fmt::print(stderr, "simt: {}\n", message);
  std::exit(1);
}

/// A variable that holds a number of this range; the example is what the message suggests.
struct Number {
  const char* name;
  std::uint64_t least, most;
  const char* example;

  std::optional<std::uint64_t> read() const {
    const char* const text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    const char* const end = text + std::string_view(text).size();
    std::uint64_t value = 0;
    const auto [stopped, error] = std::from_chars(text, end, value);
    if (error == std::errc() && stopped == end && value >= least && value <= most) return value;
    const bool no_limit = most == std::numeric_limits<std::uint64_t>::max();
    refuse(fmt::format("{0} must be a number from {1} {2}, and is '{3}': try {0}={4}, or unset {0}",
                       name, least, no_limit ? "on" : fmt::format("to {}", most), text, example));
  }
  template <class T>
  T read_or(T otherwise) const {
    const std::optional<std::uint64_t> value = read();
    return value ? static_cast<T>(*value) : otherwise;
  }
};

bool read_switch(const char* name, bool otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view value = text;
  if (value == "0" || value == "1") return value == "1";
  refuse(fmt::format("{0} must be 0 or 1, and is '{1}': try {0}={2}, or unset {0}", name, text,
                     otherwise ? 0 : 1));
}

std::string read_text(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// A misspelled name would change nothing, silently.
void refuse_unknown_names() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view whole = *entry;
    const std::string_view name = whole.substr(0, whole.find('='));
    const bool is_known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
    if (!name.starts_with("SIMT_") || is_known) continue;
    std::string known;
    for (const std::string_view other : kNames) known += fmt::format("\n  {}", other);
    refuse(
        fmt::format("{} is in the environment, but there is no such setting. The settings are:{}",
                    name, known));
  }
}

Environment read_environment() {
  constexpr std::uint64_t kMostRecorded = 1'000'000'000;
  refuse_unknown_names();
  Environment e;
  e.seed = Number{"SIMT_SEED", 0, std::numeric_limits<std::uint64_t>::max(), "3"}.read();
  e.devices = Number{"SIMT_DEVICES", 1, kMostDevices, "2"}.read_or(e.devices);
  e.peer_access = read_switch("SIMT_PEER_ACCESS", e.peer_access);
  e.host_atomics = read_switch("SIMT_HOST_ATOMICS", e.host_atomics);
  e.trace.file = read_text("SIMT_TRACE");
  e.trace.kernel = read_text("SIMT_TRACE_KERNEL");
  e.trace.blocks = Number{"SIMT_TRACE_BLOCKS", 1, kMostRecorded, "4"}.read_or(e.trace.blocks);
  e.trace.events = Number{"SIMT_TRACE_EVENTS", 1, kMostRecorded, "500"}.read_or(e.trace.events);
  e.trace.launches =
      Number{"SIMT_TRACE_LAUNCHES", 1, kMostRecorded, "10"}.read_or(e.trace.launches);
  return e;
}

/// Before main(): no program runs with a setting that it does not use.
[[maybe_unused]] const Environment& at_start = environment();

}  // namespace

const Environment& environment() {
  static const Environment& e = *new Environment(read_environment());
  return e;
}

}  // namespace simt
