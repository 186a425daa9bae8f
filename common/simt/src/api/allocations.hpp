#pragma once

namespace simt {

/// Gives back all memory that was allocated while this device was current.
void free_everything(int device);

}  // namespace simt
