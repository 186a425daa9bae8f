// What the checker says of bulk operations.
#include <fmt/format.h>

#include "base/program.hpp"
#include "checker/async_copies.hpp"
#include "checker/messages.hpp"
#include "memory/names.hpp"

namespace simt {

void report_missing_bulk_fence(const Access& write, std::uintptr_t address, const void* caller) {
  const std::uint32_t now = engine.current->id;
  report_pair(write.pc, pc_of(caller), [&](const SourceLine& write_line, const SourceLine& line) {
    Report report = race_finding(
        line,
        fmt::format(
            "BULK OPERATION WITHOUT ITS FENCE in kernel {} on {}\n  read   at {} by {}, in a bulk "
            "operation\n  write  at {} by {}",
            engine.launch->kernel, describe_address(address), line.text(), thread_name(now),
            write_line.text(), thread_name(write.thread)),
        "Bulk operations reach shared memory by another way than the threads, and a barrier\n"
        "  does not order the two. The thread that has written calls\n"
        "  course::fence_before_bulk() before the barrier.");
    report.object = object_at(address);
    report.accesses = {access_by("read", line, now), access_by("write", write_line, write.thread)};
    return report;
  });
}

void report_bulk_not_waited_for(const AsyncCopy& copy) {
  const std::uint32_t pc = pc_of(copy.caller);
  if (!is_worth_telling(ReportKind::race, pc, pc)) return;
  const SourceLine line = source_line(copy.caller);
  Report report = race_finding(
      line,
      fmt::format(
          "BLOCK LEFT BEFORE ITS BULK OPERATION HAD READ in kernel {} on {}\n  read   at {} by {}, "
          "in a bulk operation",
          engine.launch->kernel, describe_address(copy.from), line.text(),
          thread_name(copy.thread)),
      "The block's shared memory then belongs to another block. The thread that began the\n"
      "  operation ends its group (course::bulk_commit), and waits until the sources have been\n"
      "  read (course::bulk_wait_read) before it returns.");
  report.object = object_at(copy.from);
  report.accesses = {access_by("read", line, copy.thread)};
  file_report(std::move(report));
}

}  // namespace simt
