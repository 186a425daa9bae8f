// The size of the machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr int kMostDevices = 8;
/// In the place of a device's number: pinned and managed memory, which all devices reach.
constexpr std::uint8_t kEveryDevice = kMostDevices;

}  // namespace simt
