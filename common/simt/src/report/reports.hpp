// Findings: who is told. Notes are made with simt::note() of runtime.hpp.
#pragma once

#include <string>

#include "simt/testing.hpp"

namespace simt {

/// Hands a finding to the installed handler now. Call on the host's stack only.
void deliver(Report report);
/// A remark, as note() of runtime.hpp makes it, with a text of the moment.
void note_text(std::string text, const void* caller);

}  // namespace simt
