// Several devices: how many there are, which one is current, and who reaches whose memory.
#pragma once

#include <cstdint>

#include "base/limits.hpp"

namespace simt {

/// 1 to kMostDevices: SIMT_DEVICES, or what set_devices() asked for.
int device_count();
bool is_device(int device);
/// What cudaSetDevice() chose.
int current_device();
void set_current_device(int device);
void set_device_count(int count);

constexpr std::uint32_t bit(int device) { return std::uint32_t(1) << device; }

/// The program has launched something, or made a stream or memory, on this device.
void note_use(int device);
/// True once it has used two devices since the last reset: messages then say which one.
bool several_devices();

/// Bit d: kernels of `device` reach the memory of device d. Bit kEveryDevice is always set.
std::uint32_t reachable_from(int device);
/// Bit d: the device has peer access to device d.
std::uint32_t peers_of(int device);
void set_peers(int device, std::uint32_t peers);
/// Bit d: kernels of another device reach the memory of device d, too. So they do kEveryDevice.
std::uint32_t memory_of_several();

/// Device 0 is current, no device has peer access, and no device has been used.
void reset_devices();

}  // namespace simt
