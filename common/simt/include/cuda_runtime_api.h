// CUDA's name for the runtime API of the CPU device.
#pragma once

#define __CUDA_RUNTIME_API_H__
#define CUDART_VERSION 13000
#define CUDART_CB
#define CUDARTAPI

#include "driver_types.h"
#include "simt/api.hpp"
