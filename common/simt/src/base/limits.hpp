// The size of the machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr int kMostDevices = 8;
/// Instead of a device's number: pinned and managed memory, which all devices reach.
constexpr std::uint8_t kEveryDevice = kMostDevices;

constexpr std::size_t kDeviceMemory = std::size_t(4) << 30;  // bytes that cudaMalloc can hand out
constexpr std::size_t kSharedPerBlock = 48 * 1024;           // without an opt-in
constexpr std::size_t kSharedOptIn = 227 * 1024;             // with cudaFuncSetAttribute, as sm_90
constexpr unsigned kMaxThreadsPerBlock = 1024;

constexpr unsigned kMostBlocksOfCluster = 8;  // the most that every GPU with clusters has
constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};

// 4 SMs of 2048 threads: as many threads as the scheduler keeps in flight when blocks
// have 1024.
constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr std::size_t kSharedPerMultiprocessor = 228 * 1024;
constexpr std::size_t kSharedReserved = 1024;  // what the system takes of every block's share

}  // namespace simt
