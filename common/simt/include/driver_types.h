// CUDA's name for the types of the runtime API on the CPU device.
#pragma once

#define __DRIVER_TYPES_H__  // NVIDIA's helper headers ask for it

#include "simt/api.hpp"
