// Findings: who is told. Notes are made with simt::note() of runtime.hpp.
#pragma once

#include <string>
#include <string_view>

#include "report/source_lines.hpp"
#include "simt/testing.hpp"

namespace simt {

/// Hands a finding to the installed handler now. Call on the host's stack only.
void deliver(Report report);
/// A remark, as note() of runtime.hpp makes it, with a text of the moment.
void note_text(std::string text, const void* caller);
/// One on accesses to `object`, if that has a name: it is not told beside a finding at the same line, or on the same
/// object.
void note_unless_found(std::string text, std::string object, const void* caller);
/// True if the next remark of this line would say nothing new: it has one, or there is no room for more.
bool is_noted(const void* caller);
/// One that is a clue.
void clue_text(std::string text, const void* caller);
/// Ends the program: it asks for something of CUDA that the CPU device has not. `what` it is, and what to do instead.
[[noreturn]] void refuse_unsupported(const char* what, const void* caller);
[[noreturn]] void refuse_unsupported(std::string_view what, const SourceLine& where);
/// Ends the program if another thread of the host than the first one comes here: nothing of the CPU device has locks.
/// `what` it does, and what to do instead.
void refuse_other_threads(const char* what, const void* caller);
/// The same, where a kernel runs: the host's thread that computes meanwhile would count as a thread of the kernel.
void refuse_threads_beside_kernel(const void* caller);
/// True if the program has another thread than the calling one.
bool host_has_other_threads();

}  // namespace simt
