// Findings: who is told. Notes are made with simt::note() of runtime.hpp.
#pragma once

#include "simt/testing.hpp"

namespace simt {

/// Hands a finding to the installed handler now. Call on the host's stack only.
void deliver(Report report);

}  // namespace simt
