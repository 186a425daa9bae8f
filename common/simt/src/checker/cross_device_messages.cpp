// What is said of races of several devices.
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "checker/cross_device.hpp"
#include "checker/fences.hpp"
#include "checker/messages.hpp"
#include "memory/names.hpp"

namespace simt {
namespace {

const char* word_for(AccessKind kind) {
  switch (kind) {
    case AccessKind::read:
      return "read";
    case AccessKind::write:
      return "write";
    case AccessKind::relaxed_read:
      return "atomic read";
    case AccessKind::relaxed_write:
      return "atomic write";
    default:
      return "atomic";
  }
}

constexpr const char* kNoAtomicsOverLink =
    "This is pinned memory of the host, and the link to it carries no atomics:\n"
    "  cudaDevAttrHostNativeAtomicSupported is 0, as with PCIe. The device loads, adds and stores\n"
    "  in separate steps. Use managed memory (cudaMallocManaged), or memory of a device that its\n"
    "  peers can access.";

std::string hint(const CrossAccess& earlier, const CrossAccess& now, const char* function,
                 const Thread& t) {
  const int first = launch_of(earlier).placement.device;
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    if (earlier.system && now.system) return kNoAtomicsOverLink;
    const bool is_cuda = function != nullptr && std::strncmp(function, "atomic", 6) == 0;
    const std::string base = is_cuda ? std::string(function).substr(0, std::strcspn(function, "_"))
                                     : std::string("atomicAdd");
    return fmt::format(
        "{0}() is atomic among the threads of one device, {0}_system() among those of all devices.\n"
        "  (cuda::atomic_ref: thread_scope_device and thread_scope_system, the default.)",
        base);
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

std::string who(const CrossAccess& access) {
  const PastLaunch& launch = launch_of(access);
  return fmt::format("{} in kernel {}",
                     thread_name(access.thread, launch.grid, launch.block, launch.placement.device),
                     launch.kernel);
}

ReportedAccess reported(const CrossAccess& access, const SourceLine& where) {
  const PastLaunch& launch = launch_of(access);
  return access_by(word_for(access.kind), where, access.thread, launch.grid, launch.block,
                   launch.placement.device);
}

}  // namespace

void report_cross_device(const CrossAccess& earlier, const CrossAccess& now, std::uintptr_t address,
                         const char* function, const Thread& t) {
  report_pair(earlier.pc, now.pc, [&](const SourceLine& earlier_line, const SourceLine& now_line) {
    Report report = finding(
        ReportKind::race, now_line,
        fmt::format(
            "DATA RACE of two devices on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}\n  {}",
            describe_address(address), word_for(now.kind), now_line.text(), who(now),
            word_for(earlier.kind), earlier_line.text(), who(earlier),
            hint(earlier, now, function, t)));
    report.object = object_at(address);
    report.accesses = {reported(now, now_line), reported(earlier, earlier_line)};
    return report;
  });
}

}  // namespace simt
