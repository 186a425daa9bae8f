// The library that sums over the ranks.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>

#include "team.hpp"

/// Sums the arrays of all ranks, element by element. All arrays are in memory of the rank's device.
/// All ranks have to open it, use it and close it together.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Finds the other ranks. Throws as all_reduce() does.
  virtual void open() {}
  /// The end, if all went well.
  virtual void close() {}
  /// Such as "NCCL 2.28.9".
  virtual std::string name() const = 0;
  /// d_out = the sum of d_in over all ranks, on every rank; n is the same on all of them, or they
  /// wait for ever. Begins after the work that the stream holds, returns when d_out is there.
  /// Throws TimedOut, course::CudaError, Failure.
  virtual void all_reduce(const double* d_in, double* d_out, std::size_t n) = 0;
  virtual void all_reduce(const float* d_in, float* d_out, std::size_t n) = 0;
};

/// Through the host: MPI sees no device memory.
std::unique_ptr<Engine> make_mpi_engine(Team& team, cudaStream_t stream);
/// From device to device. NotHere if the program was built without NCCL.
std::unique_ptr<Engine> make_nccl_engine(Team& team, cudaStream_t stream);
/// Whether the program was built with NCCL.
bool has_nccl();
