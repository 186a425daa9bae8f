#pragma once

namespace simt {

/// No kernel may use more than 48 KiB of dynamic shared memory any more.
void forget_grants();

}  // namespace simt
