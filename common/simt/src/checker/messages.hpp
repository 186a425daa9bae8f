// What the checker says. The rules (rules.hpp, rules.cpp, overlap.cpp) decide that something is
// wrong; what it is called, and what to try, is written in messages.cpp, memory_messages.cpp, stray_index.cpp,
// bulk_messages.cpp and overlap_messages.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/inlining.hpp"
#include "kernel/findings.hpp"
#include "memory/shadow.hpp"
#include "trace/values.hpp"

namespace simt {

struct AsyncCopy;

/// "read", "atomic write": an access of volatile is an atomic one, too.
const char* kind_name(AccessKind k);
/// "read", "volatile write". `name`: of a relaxed load or store, as in its SyncEvent; null if it is not known.
const char* verb(AccessKind k, const char* name = nullptr);
std::string capitalised(std::string text);
/// Sentences in lines that fit into a message.
std::string wrapped(const std::string& sentences);
/// "1 byte", "8 bytes".
std::string bytes(std::size_t n);

/// One side of a race.
struct Side {
  Access access;
  AccessKind kind;
};

/// What a write has left, and what it found.
struct Overwrite {
  Value old, now;
};
/// `values`: of a race of two writes, if they are known.
SIMT_RARE void report_race(const Side& earlier, const Side& now, std::uintptr_t address,
                           const Thread& t, const Overwrite* values = nullptr);
/// Memory that __ldg() or a texture reads is written in the same launch, before or after.
SIMT_RARE void report_read_only(const Access& load, ReadPath path, const Side& write,
                                std::uintptr_t address);
SIMT_RARE void report_uninitialised(std::uintptr_t address, AccessKind kind, const void* caller);
/// Something touches what an asynchronous copy reads or writes, and has not waited for the copy.
SIMT_RARE void report_copy_race(const AsyncCopy& copy, AccessKind kind, const Side& other,
                                std::uintptr_t address);
/// The same, found when the copy is waited for: by what was written last.
SIMT_RARE void report_overtaken_copy(const AsyncCopy& copy, std::uintptr_t address,
                                     AccessKind kind);
/// A bulk operation is about to read what a thread has written without a fence for that.
SIMT_RARE void report_missing_bulk_fence(const Access& write, std::uintptr_t address,
                                         const void* caller);
/// The block has ended, and a bulk addition may still read its shared memory.
void report_bulk_not_waited_for(const AsyncCopy& copy);
void report_host_access(std::uintptr_t address, std::size_t size, bool write, const void* caller);
[[noreturn]] SIMT_RARE void stop_illegal(std::uintptr_t address, std::size_t size, AccessKind kind,
                                         const void* caller);
[[noreturn]] SIMT_RARE void stop_misaligned(std::uintptr_t address, std::size_t size,
                                            AccessKind kind, const void* caller);
/// The address of `what`, which is no multiple of `alignment`. `why`: "The type int2 needs an address that is a multiple of 8".
[[noreturn]] SIMT_RARE void stop_misaligned_object(std::uintptr_t address, std::size_t alignment,
                                                   const std::string& what, const std::string& why,
                                                   const void* caller);

/// Files a race, unless this launch has told of the same instructions or lines. `report` gets the
/// lines of both.
void report_pair(std::uint32_t earlier_pc, std::uint32_t now_pc,
                 FunctionRef<Report(const SourceLine&, const SourceLine&)> report);

}  // namespace simt
