#pragma once

#include "memory.hpp"

namespace simt {

/// Gives the shadow's memory back.
void drop_shadow(Allocation& a);

}  // namespace simt
