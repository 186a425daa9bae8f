#pragma once
#include "simt/vector_types.hpp"
