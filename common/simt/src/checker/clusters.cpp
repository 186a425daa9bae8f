// Accesses to the shared memory of another block of a cluster: whether that block has begun, and has not ended.
#include "checker/clusters.hpp"

#include <fmt/format.h>

#include "checker/rules.hpp"
#include "memory/names.hpp"

namespace simt {

bool ordered_by_cluster(const Access& earlier, const Thread& t) {
  const std::uint32_t known = phases_known(t);
  if (known == 0) return false;
  const Cluster& c = *t.block->cluster;
  const unsigned number = c.number_of(earlier.thread);
  return number != ~0u && earlier.clock >> kClockShift < c.clocks[known % 3][number];
}

namespace {

const char* word_for(AccessKind kind) {
  return is_atomic(kind) ? "atomic" : writes(kind) ? "write" : "read";
}

std::string owner_text(const Block& owner, std::uintptr_t address) {
  return fmt::format("{} of {}", describe_address(address), block_name(owner.linear));
}

Report remote_finding(const RemoteUse& use, const Block& owner, const char* title,
                      const std::string& hint) {
  const SourceLine where = source_line(return_address_of(use.access.pc));
  Report report = race_finding(
      where,
      fmt::format("{} in kernel {}: {} of {}\n  at {} by {}", title, engine.launch->kernel,
                  word_for(use.kind), owner_text(owner, use.address), where.text(),
                  thread_name(use.access.thread)),
      hint);
  report.object = object_at(use.address);
  report.accesses = {access_by(word_for(use.kind), where, use.access.thread)};
  return report;
}

/// A finding of the running thread.
void tell(const RemoteUse& use, const Block& owner, const char* title, const std::string& hint) {
  if (!is_worth_telling(ReportKind::race, use.access.pc, use.access.pc)) return;
  on_host_stack([&] { file_report(remote_finding(use, owner, title, hint)); });
}

/// Has the owner's first instruction come before what t does?
bool has_begun(const Block& owner, const Thread& t) {
  if (phases_known(t) > 0) return true;
  return ordered_by_fences({thread_id(owner.linear, 0), 0, 1}, t) ||
         ordered_by_fences({thread_id(owner.linear, t.flat), 0, 1}, t);
}

constexpr const char* kLeft = "BLOCK LEFT WHILE OTHERS USE ITS SHARED MEMORY";

std::string left_hint(const Block& owner) {
  return fmt::format(
      "Nothing orders this access before the end of {}, whose shared memory then belongs to\n"
      "  another block. Call cluster.sync() after the last access, in all threads of the cluster.",
      block_name(owner.linear));
}

}  // namespace

void check_remote_use(Allocation& a, std::uintptr_t address, AccessKind kind, const void* caller,
                      Thread& t) {
  if (a.holder == t.block->linear) return;
  Cluster& c = *t.block->cluster;
  Member* const owner = c.member(a.holder);
  if (owner == nullptr) return;
  const NowAccess now{kind, 0, pc_of(caller), address, 1};
  const RemoteUse use{record(t, now), kind, address};
  if (owner->block->alive == 0) {
    tell(use, *owner->block, kLeft, left_hint(*owner->block));
    return;
  }
  if (!has_begun(*owner->block, t)) {
    tell(
        use, *owner->block, "SHARED MEMORY OF A BLOCK THAT MAY NOT HAVE BEGUN",
        "A block's shared memory exists from its first instruction on. Call cluster.sync() before\n"
        "  the first access to another block's shared memory.");
  }
  if (owner->uses.empty()) owner->uses.resize(c.members.size() * c.block_size);
  RemoteUse& last = owner->uses[t.block->cluster_rank * c.block_size + t.flat];
  if (last.access.pc == 0) ++owner->open_uses;
  last = use;
}

void settle_remote_uses(const Thread& t) {
  Member& owner = t.block->cluster->members[t.block->cluster_rank];
  if (owner.open_uses == 0) return;
  for (RemoteUse& use : owner.uses) {
    if (use.access.pc == 0) continue;
    if (!ordered(use.access, t)) {
      if (t.block->alive > 1) continue;  // another thread of the block may end later
      if (is_worth_telling(ReportKind::race, use.access.pc, use.access.pc)) {
        file_report(remote_finding(use, *owner.block, kLeft, left_hint(*owner.block)));
      }
    }
    use.access.pc = 0;
    --owner.open_uses;
  }
}

}  // namespace simt
