#pragma once
#include "simt/api.hpp"
