// What CUDA declares here is in cuda_runtime.h on the CPU device.
#pragma once

#include "cuda_runtime.h"
