#pragma once

namespace simt {

/// All events are as before their first cudaEventRecord.
void forget_records();

}  // namespace simt
