// How does a sum get the same bits on one device and on eight?
// Rungs: sum_chunks_to_host, sum_in_chunks. The chunks' bounds depend on the array alone, and so
// does their order. Cost: 8 bytes for 32,768 elements go to the host, which sums them.
#pragma once

#include <algorithm>
#include <course/host_memory.cuh>
#include <vector>

#include "parts.cuh"

/// The sum of parts that make_parts(n, devices, share_in_chunks) has made. The chunks' sums go to
/// pinned memory, and the host sums them in the order of the array. Throws CudaError.
inline double sum_chunks_to_host(std::vector<Part>& parts, course::PinnedBuffer<double>& sums) {
  for (Part& part : parts) {
    const course::OnDevice on(part.device);
    chunk_sums(part.x.data(), part.share.size, sums.data() + part.share.begin / kChunk, nullptr);
  }
  wait_for(parts);
  double sum = 0;
  for (std::size_t chunk = 0; chunk < sums.size(); ++chunk) sum += sums[chunk];
  return sum;
}

// ---- the same array in any number of parts ------------------------------------------------------

/// Copies a share of h_x to the current device, and queues its chunks' sums into `sums`, which the
/// device reaches. Returns the copy: it has to live until the sums are there.
inline course::DeviceBuffer<float> queue_chunks(const std::vector<float>& h_x, Share share,
                                                double* sums) {
  const auto first = h_x.begin() + static_cast<std::ptrdiff_t>(share.begin);
  auto d_x = course::DeviceBuffer<float>::from(
      std::vector<float>(first, first + static_cast<std::ptrdiff_t>(share.size)));
  chunk_sums(d_x.data(), share.size, sums, nullptr);
  return d_x;
}

/// The sum of h_x in `parts` parts, which the devices take in turn. Part p's chunks' sums begin at
/// sums[places[p]]. Throws CudaError.
inline double sum_of_parts(const std::vector<float>& h_x, const std::vector<Share>& shares,
                           const std::vector<std::size_t>& places, std::size_t chunks) {
  course::PinnedBuffer<double> sums(chunks);
  std::vector<course::DeviceBuffer<float>> memory;
  const int devices = course::device_count();
  for (std::size_t part = 0; part < shares.size(); ++part) {
    const course::OnDevice on(static_cast<int>(part) % devices);
    memory.push_back(queue_chunks(h_x, shares[part], sums.data() + places[part]));
  }
  wait_for_devices(devices);
  double sum = 0;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) sum += sums[chunk];
  return sum;
}

/// Parts of n / parts elements, as share_of() has them: other bits for another number of parts,
/// because chunks begin where a part does.
inline double sum_in_shares(const std::vector<float>& h_x, int parts) {
  std::vector<Share> shares;
  std::vector<std::size_t> places;
  std::size_t chunks = 0;
  for (int part = 0; part < parts; ++part) {
    shares.push_back(share_of(h_x.size(), part, parts));
    places.push_back(chunks);
    chunks += chunks_of(shares.back().size);
  }
  return sum_of_parts(h_x, shares, places, chunks);
}

/// Parts of whole chunks: the same bits for every number of parts, and so of devices.
inline double sum_in_chunks(const std::vector<float>& h_x, int parts) {
  std::vector<Share> shares;
  std::vector<std::size_t> places;
  for (int part = 0; part < parts; ++part) {
    shares.push_back(share_in_chunks(h_x.size(), part, parts));
    places.push_back(shares.back().begin / kChunk);
  }
  return sum_of_parts(h_x, shares, places, chunks_of(h_x.size()));
}
