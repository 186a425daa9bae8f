// The part of the program `sum_mpi` that launches kernels. The rest is in program/.
#include <course/data.cuh>

#include "local_sum.cuh"
#include "parts.cuh"
#include "program/on_device.cuh"

// The number of elements is a prime, so no share and no chunk begins where another one does.
std::vector<float> table() { return course::position_values<float>(10'007); }
double exact_sum(std::size_t n) { return sum_of_repeated(table(), n); }
void make_floats(std::size_t begin, float* d_x, std::size_t n) { repeat(table(), begin, d_x, n); }

void queue_sum(const course::DeviceBuffer<float>& x, course::DeviceBuffer<double>& workspace,
               double* d_sum, cudaStream_t stream) {
  if (workspace.size() == 0) workspace = course::DeviceBuffer<double>(chunks_of(x.size()));
  local_sum(x.data(), x.size(), d_sum, workspace.data(), stream);
}
