// What is said of races of operations that run at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"
#include "checker/fences.hpp"
#include "checker/messages.hpp"
#include "checker/overlap.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"

namespace simt {
namespace {

constexpr const char* kNoAtomicsOverLink =
    "This is pinned memory of the host, and the link to it carries no atomics:\n"
    "  cudaDevAttrHostNativeAtomicSupported is 0, as with PCIe. The device loads, adds and stores\n"
    "  in separate steps. Use managed memory (cudaMallocManaged), or memory of a device that its\n"
    "  peers can access.";

/// "atomicAdd" of "atomicAdd_block"; of what is no function of CUDA's, an example.
std::string base_name(const char* function) {
  const bool is_cuda = function != nullptr && std::strncmp(function, "atomic", 6) == 0;
  return is_cuda ? std::string(function).substr(0, std::strcspn(function, "_")) : "atomicAdd";
}

/// Two kernels. `t`: the running thread.
std::string hint_of_devices(const CrossAccess& earlier, const CrossAccess& now,
                            const char* function, const Thread& t) {
  const int first = operation_of(earlier).placement.device;
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    if (earlier.scope == Scope::system && now.scope == Scope::system) return kNoAtomicsOverLink;
    return fmt::format(
        "{0}() is atomic among the threads of one device, {0}_system() among those of all devices.\n"
        "  (cuda::atomic_ref: thread_scope_device and thread_scope_system, the default.)",
        base_name(function));
  }
  if (fences_used() && lacks_system_fence(earlier, t)) {
    return "A __threadfence() orders the memory of one device's threads. Between devices both "
           "sides\n"
           "  need __threadfence_system(): one before the atomic that signals that the data is\n"
           "  ready, the other after the atomic that sees the signal.";
  }
  const std::string order = fmt::format(
      "Nothing orders the two kernels: both devices may run at the same time. Let the host wait\n"
      "  for device {0} (cudaDeviceSynchronize while it is current) before the second launch, or\n"
      "  let the second stream wait: cudaEventRecord after the first kernel, cudaStreamWaitEvent\n"
      "  before the second.",
      first);
  if (is_atomic(earlier.kind) != is_atomic(now.kind)) {
    return order + "\n  (They need no order only if both accesses are atomics of system scope.)";
  }
  return order + "\n  (For a sum or a count while both run: atomicAdd_system().)";
}

/// Of a kernel and a call that runs on another device; empty for any others.
std::string other_device_text(const CrossAccess& a, const CrossAccess& b) {
  const PastOperation &x = operation_of(a), &y = operation_of(b);
  const bool is_pair = (x.doer == Doer::kernel) != (y.doer == Doer::kernel) &&
                       (x.doer == Doer::call) != (y.doer == Doer::call);
  if (!is_pair || x.placement.device == y.placement.device) return "";
  const PastOperation &kernel = x.doer == Doer::kernel ? x : y, &call = &kernel == &x ? y : x;
  return fmt::format(
      "{0}() runs in a stream of device {1}, and kernel {2} in one of device {3}: nothing orders the\n"
      "  two. Is device {3} meant to be current at the call of {0}() (cudaSetDevice)? Else let one\n"
      "  stream wait for the other: cudaEventRecord and cudaStreamWaitEvent.",
      call.name, call.placement.device, kernel.name, kernel.placement.device);
}

std::string hint_of_streams(const CrossAccess& earlier, const CrossAccess& now,
                            const char* function) {
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    return fmt::format(
        "{0}_block() is atomic among the threads of one block, {0}() among those of the device.",
        base_name(function));
  }
  if (const std::string text = other_device_text(earlier, now); !text.empty()) return text;
  std::string order =
      "Two streams, and nothing orders them. Let the second one wait: cudaEventRecord after the\n"
      "  first operation, cudaStreamWaitEvent before the second; or call cudaDeviceSynchronize\n"
      "  between the two, or use one stream for both.";
  if (operation_of(earlier).placement.of_graph || operation_of(now).placement.of_graph) {
    order =
        "Nodes of a graph are ordered by its edges only: cudaGraphAddDependencies, or, while it is\n"
        "  captured, cudaEventRecord after the first one and cudaStreamWaitEvent before the second.";
  }
  const bool kernels =
      operation_of(earlier).doer == Doer::kernel && operation_of(now).doer == Doer::kernel;
  if (!kernels) return order;
  if (is_atomic(earlier.kind) != is_atomic(now.kind)) {
    return order + "\n  (They need no order only if both accesses are atomics.)";
  }
  return order + "\n  (For a sum or a count while both run: atomicAdd().)";
}

/// The host's own code and an operation that it does not wait for.
std::string hint_of_host(const CrossAccess& host, const CrossAccess& other) {
  if (is_atomic(host.kind) && is_atomic(other.kind)) {
    return "Between a kernel and the host an atomic needs system scope: atomicAdd_system(), or a\n"
           "  cuda::atomic_ref of thread_scope_system.";
  }
  if (other.kind == AccessKind::relaxed_read && host.kind == AccessKind::write) {
    return "If the kernel waits for this write while it runs: write by volatile or an atomic of\n"
           "  system scope. If not: call cudaDeviceSynchronize before the host writes this memory.";
  }
  const PastOperation& past = operation_of(other);
  if (past.doer == Doer::call) {
    const char* const todo = !writes(host.kind)   ? "reads the result"
                             : writes(other.kind) ? "writes there"
                                                  : "changes what is copied";
    return fmt::format(
        "{}() only joins its stream's queue: call cudaStreamSynchronize, or\n"
        "  cudaEventSynchronize after it, before the host {}.",
        past.name, todo);
  }
  const char* const what = past.doer == Doer::kernel
                               ? "A launch returns before the kernel has run"
                               : "The host function may run at any time until the host waits";
  return fmt::format(
      "{}: call cudaDeviceSynchronize,\n  or cudaStreamSynchronize for its stream, "
      "before the host {} this memory.",
      what, writes(host.kind) ? "writes" : "reads");
}

std::string who(const CrossAccess& access) {
  const PastOperation& o = operation_of(access);
  switch (o.doer) {
    case Doer::call:
      return fmt::format("{}()", o.name);
    case Doer::host_function:
      return "a host function of a stream";
    case Doer::host:
      return "the host";
    case Doer::kernel:
      break;
  }
  return fmt::format("{} in kernel {}",
                     thread_name(access.thread, o.grid, o.block, o.placement.device), o.name);
}

/// The same for the title.
std::string sort_of(const CrossAccess& access) {
  return operation_of(access).doer == Doer::kernel ? "a kernel" : who(access);
}

/// " (launched at f.cu:12)".
std::string where_launched(const CrossAccess& access) {
  const PastOperation& o = operation_of(access);
  if (o.doer != Doer::kernel || o.calls.empty()) return "";
  return fmt::format(" (launched at {})", source_line(o.calls).text());
}

ReportedAccess reported(const CrossAccess& access, const SourceLine& where) {
  const PastOperation& o = operation_of(access);
  if (o.doer == Doer::kernel) {
    return access_by(kind_name(access.kind), where, access.thread, o.grid, o.block,
                     o.placement.device);
  }
  return {kind_name(access.kind), where.file, where.line, "", "", o.placement.device};
}

struct Lines {
  SourceLine earlier, now;
};

Report overlap_report(const CrossAccess& earlier, const CrossAccess& now, const Lines& lines,
                      std::uintptr_t address, const std::string& sides, bool tells_launches,
                      const std::string& hint) {
  const auto line_of = [&](const CrossAccess& access, const SourceLine& where) {
    return fmt::format("\n  {:<6} at {} by {}{}", kind_name(access.kind), where.text(), who(access),
                       tells_launches ? where_launched(access) : "");
  };
  Report report =
      race_finding(lines.now,
                   fmt::format("DATA RACE of {} on {}{}{}", sides, describe_address(address),
                               line_of(now, lines.now), line_of(earlier, lines.earlier)),
                   hint);
  for (const CrossAccess* access : {&earlier, &now}) {
    if (operation_of(*access).doer == Doer::kernel) report.kernel = operation_of(*access).name;
  }
  report.object = object_at(address);
  report.accesses = {reported(now, lines.now), reported(earlier, lines.earlier)};
  return report;
}

Report overlap_report(const CrossAccess& earlier, const CrossAccess& now, const Lines& lines,
                      std::uintptr_t address, const char* function, const Thread* t) {
  const PastOperation &first = operation_of(earlier), &second = operation_of(now);
  for (const auto& [host, other] : {std::pair{&earlier, &now}, std::pair{&now, &earlier}}) {
    if (operation_of(*host).doer != Doer::host) continue;
    return overlap_report(earlier, now, lines, address,
                          fmt::format("the host and {}", sort_of(*other)), true,
                          hint_of_host(*host, *other));
  }
  const bool kernels = first.doer == Doer::kernel && second.doer == Doer::kernel;
  if (kernels && t != nullptr && first.placement.device != second.placement.device) {
    return overlap_report(earlier, now, lines, address, "two devices", false,
                          hint_of_devices(earlier, now, function, *t));
  }
  return overlap_report(earlier, now, lines, address, "two streams", true,
                        hint_of_streams(earlier, now, function));
}

// ---- of calls and host code, outside launches ---------------------------------------------------

constexpr std::size_t kMostOutsideLaunches = 3;  // until the host has waited for everything

struct Told {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> instructions;
  std::vector<std::pair<std::string, std::string>> lines;
};
SIMT_EARLY Told told;

}  // namespace

void report_overlap_of_kernel(const CrossAccess& earlier, const CrossAccess& now,
                              std::uintptr_t address, const char* function, const Thread& t) {
  report_pair(earlier.pc, now.pc, [&](const SourceLine& earlier_line, const SourceLine& now_line) {
    return overlap_report(earlier, now, {earlier_line, now_line}, address, function, &t);
  });
}

void report_overlap_of_host(const CrossAccess& earlier, const CrossAccess& now,
                            std::uintptr_t address) {
  const std::pair<std::uint32_t, std::uint32_t> instructions{earlier.pc, now.pc};
  const auto is_in = [](const auto& list, const auto& pair) {
    return std::find(list.begin(), list.end(), pair) != list.end();
  };
  if (is_in(told.instructions, instructions)) return;
  told.instructions.push_back(instructions);
  const Lines lines{source_line(return_address_of(earlier.pc)),
                    source_line(return_address_of(now.pc))};
  const std::pair<std::string, std::string> texts{lines.earlier.text(), lines.now.text()};
  if (is_in(told.lines, texts) || told.lines.size() == kMostOutsideLaunches) return;
  told.lines.push_back(texts);
  deliver(overlap_report(earlier, now, lines, address, nullptr, nullptr));
}

void forget_overlaps_told() { told = {}; }

}  // namespace simt
