// For the ladder: rungs on a vector of every device, all of which need NCCL.
#pragma once

#include <course/buffer.cuh>
#include <course/devices.cuh>
#include <course/ladder.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "nccl_team.cuh"
#include "overlap.cuh"
#include "rungs.cuh"

/// The vectors repeat these many values: a prime, so that no chunk begins where another one does.
constexpr std::size_t kVectorPeriod = 1'000'003;

/// *d_wrong += how many of the n elements are not those of the table, again and again.
__global__ void count_wrong(const float* d_x, std::size_t n, const float* d_table,
                            std::size_t period, unsigned long long* d_wrong) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && !(d_x[i] == d_table[i % period])) atomicAdd(d_wrong, 1ull);
}

/// Ok if every device has the sum of all layers.
inline course::Verdict check_vectors(const std::vector<VectorPart>& parts,
                                     const std::vector<float>& expected) {
  for (const VectorPart& part : parts) {
    const course::OnDevice on(part.device);
    const auto d_expected = course::DeviceBuffer<float>::from(expected);
    auto d_wrong = course::DeviceBuffer<unsigned long long>::zeros(1);
    course::launch(count_wrong, {course::blocks_for(part.sum.size(), kLayerBlock), kLayerBlock},
                   part.sum.data(), part.sum.size(), d_expected.data(), expected.size(),
                   d_wrong.data());
    const course::Verdict verdict = course::same(
        d_wrong.front(), 0ull, "wrong elements on device " + std::to_string(part.device));
    if (!verdict) return verdict;
  }
  return {};
}

/// NCCL's all-reduce alone, from the vectors to their sum: the first n floats of each.
inline void all_reduce_and_wait(std::vector<VectorPart>& parts, NcclTeam& team, std::size_t n) {
  std::vector<cudaStream_t> streams;
  NCCL_CHECK(ncclGroupStart());
  for (VectorPart& part : parts) {
    streams.push_back(part.send.get());
    NCCL_CHECK(ncclAllReduce(part.layers.data(), part.sum.data(), n, ncclFloat, ncclSum,
                             team.comm(part.device), part.send.get()));
  }
  NCCL_CHECK(ncclGroupEnd());
  team.wait(streams);
}

/// What an all-reduce moves over a device's links, as nccl-tests counts: 2 (p - 1) / p times its
/// size, for p devices.
inline std::size_t bus_bytes(std::size_t bytes, int devices) {
  const auto p = static_cast<std::size_t>(devices);
  return 2 * bytes * (p - 1) / p;
}

/// The all-reduce of the first n floats of each device's vector.
inline course::Rung all_reduce_rung(std::vector<VectorPart>& parts, NcclTeam& team,
                                    const std::vector<float>& expected, std::size_t n) {
  const int devices = team.devices();
  return {.name = kNcclAllReduce.name,
          .changed = std::to_string(n * sizeof(float)) + " bytes, " + std::to_string(devices) +
                     " devices, " + kNcclAllReduce.changed,
          .launch = [&parts, &team, n] { all_reduce_and_wait(parts, team, n); },
          .check =
              [&parts, &expected, n] {
                float last = 0;
                CUDA_CHECK(cudaMemcpy(&last, parts.back().sum.data() + n - 1, sizeof last,
                                      cudaMemcpyDeviceToHost));
                return course::same(last, expected[(n - 1) % expected.size()], "last element");
              },
          .bytes = bus_bytes(n * sizeof(float), devices),
          .n = n};
}

constexpr std::size_t k1GiB = std::size_t{1} << 28;  // floats

/// NCCL alone: what one float costs, what the largest vector, and all sizes between them.
inline void all_reduces(course::Ladder& ladder, std::size_t most, int devices) {
  NcclTeam team(devices);
  auto parts = make_vector_parts(most, 1, devices, 1, kVectorPeriod);
  const std::vector<float> expected = sum_of_layers(1, devices, kVectorPeriod);
  for (const std::size_t n : {std::size_t{1}, most}) {
    ladder.reference("all-reduce", 0, "GB/s: bytes that cross a device's links", n);
    ladder.rung(all_reduce_rung(parts, team, expected, n));
  }
  ladder.reference("all-reduce", 0, "bytes that cross a device's links, over the vector's", most);
  for (std::size_t n = 1; n <= most; n *= 16) {
    course::Rung rung = all_reduce_rung(parts, team, expected, n);
    rung.series = "ncclAllReduce, " + std::to_string(devices) + " devices";
    rung.x = static_cast<double>(n * sizeof(float));
    ladder.rung(rung);
  }
}

inline void layers(course::Ladder& ladder, std::size_t n, int devices) {
  NcclTeam team(devices);
  auto parts = make_vector_parts(n, kLayers, devices, 32, kVectorPeriod);
  const std::vector<float> expected = sum_of_layers(kLayers, devices, kVectorPeriod);
  ladder.reference("8 vectors a device", static_cast<double>(expected[(n - 1) % kVectorPeriod]),
                   "summed over all devices; the last element is shown", n);
  const auto row = [&](const NcclRung& rung) {
    return course::Rung{
        .name = rung.name,
        .changed = rung.changed,
        .reset =
            [&] {
              for (VectorPart& part : parts) {
                const course::OnDevice on(part.device);  // cudaMemset wants it
                part.sum.fill_bytes(0xFF);
                CUDA_CHECK(cudaDeviceSynchronize());
              }
            },
        .launch = [&, chunks = rung.chunks] { all_reduce_layers(parts, chunks, team); },
        .result =
            [&] {
              float last = 0;
              CUDA_CHECK(cudaMemcpy(&last, parts.back().sum.data() + n - 1, sizeof last,
                                    cudaMemcpyDeviceToHost));
              return static_cast<double>(last);
            },
        .check = [&] { return check_vectors(parts, expected); },
        .bytes = bus_bytes(n * sizeof(float), devices)};
  };
  ladder.vendor(row(kNcclInTurn));
  for (const NcclRung& rung : kNcclOverlapped) ladder.rung(row(rung));
}
