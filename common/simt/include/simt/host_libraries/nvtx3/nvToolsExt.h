// The name that NVTX 3 gives it.
#pragma once

#include "../nvToolsExt.h"
