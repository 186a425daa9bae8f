#pragma once

#define __DRIVER_TYPES_H__  // NVIDIA's helper headers ask for it

#include "simt/api.hpp"
