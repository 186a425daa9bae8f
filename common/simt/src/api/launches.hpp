#pragma once

namespace simt {

/// Dynamic shared memory beyond 48 KiB is no kernel's any more.
void forget_grants();

}  // namespace simt
