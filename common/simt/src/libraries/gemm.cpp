// Products of matrices, tile by tile of D.
#include "libraries/gemm.hpp"

#include <algorithm>
#include <array>

#include "simt/bfloat16.hpp"
#include "simt/half.hpp"

namespace simt {
namespace {

constexpr int kTile = 32,
              kDepth = 64;  // a tile of D is kTile x kTile, and is summed kDepth products at a time

/// The matrix of the running block.
template <class T>
struct View {
  T* data;
  long long ld;
  bool is_transposed;

  /// The address of op(this)[row, column].
  T* at(long long row, long long column) const {
    return is_transposed ? data + column + row * ld : data + row + column * ld;
  }
};

/// The i-th of several matrices.
template <class T>
View<T> view_of(const Matrix& matrix, long long i, bool is_list, const void* caller) {
  T* const first = is_list ? load(static_cast<T* const*>(matrix.data) + i, caller)
                           : static_cast<T*>(const_cast<void*>(matrix.data)) + i * matrix.stride;
  return {first, matrix.ld, matrix.op != CUBLAS_OP_N};
}

/// A part of a matrix.
struct Part {
  long long first;
  int size;
};
Part part_of(long long n, long long first, int at_most) {
  return {first, static_cast<int>(std::min<long long>(n - first, at_most))};
}

/// The elements of `parts`, each a column of `lines`, kTile apart.
template <class Sum, class T, class Address>
void gather(Sum* to, int lines, int depth, Address address) {
  for (int d = 0; d < depth; ++d) {
    for (int i = 0; i < lines; ++i) to[d * kTile + i] = static_cast<Sum>(*address(i, d));
  }
}

template <class Sum>
using TileOf = std::array<Sum, kTile * kTile>;

/// Adds the products of `depth` columns of A and rows of B.
template <class Sum>
void add_products(TileOf<Sum>& sums, const Sum* a, const Sum* b, int columns, int depth) {
  for (int d = 0; d < depth; ++d, a += kTile, b += kTile) {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < kTile; ++i) sums[j * kTile + i] += a[i] * b[j];
    }
  }
}

/// Of elements In and Out, in sums of type Sum, with alpha and beta of type Factor.
template <class In, class Out, class Sum, class Factor>
struct Kernel {
  Product p;
  Scalar<Factor> alpha, beta;
  const void* caller;

  /// One block for each tile. Its thread 0 announces what is read of A and B, and thread 1 computes: if D is in the
  /// memory of A or B, the two have a race.
  void operator()() const {
    const long long tiles_m = (p.m + kTile - 1) / kTile, tiles_n = (p.n + kTile - 1) / kTile;
    const long long tile = running_block_index.x, matrix = tile / (tiles_m * tiles_n);
    const Part rows = part_of(p.m, tile % tiles_m * kTile, kTile);
    const Part columns = part_of(p.n, tile / tiles_m % tiles_n * kTile, kTile);
    const auto factor = static_cast<Sum>(alpha.get(caller));
    const auto a = view_of<const In>(p.a, matrix, p.is_list, caller);
    const auto b = view_of<const In>(p.b, matrix, p.is_list, caller);
    if (running_thread_index.x == 1) return compute(a, b, matrix, rows, columns, factor);
    if (factor == 0) return;
    for (long long d = 0; d < p.k; ++d) {
      for (int i = 0; i < rows.size; ++i) load(a.at(rows.first + i, d), caller);
      for (int j = 0; j < columns.size; ++j) load(b.at(d, columns.first + j), caller);
    }
  }

  void compute(const View<const In>& a, const View<const In>& b, long long matrix, Part rows,
               Part columns, Sum factor) const {
    TileOf<Sum> sums{};
    std::array<Sum, kDepth * kTile> of_a{}, of_b{};
    for (long long d = 0; d < p.k && factor != 0; d += kDepth) {
      const int depth = part_of(p.k, d, kDepth).size;
      gather<Sum, In>(of_a.data(), rows.size, depth,
                      [&](int i, int at) { return a.at(rows.first + i, d + at); });
      gather<Sum, In>(of_b.data(), columns.size, depth,
                      [&](int j, int at) { return b.at(d + at, columns.first + j); });
      add_products(sums, of_a.data(), of_b.data(), columns.size, depth);
    }
    const auto old_factor = static_cast<Sum>(beta.get(caller));
    const auto c = view_of<const Out>(p.c, matrix, p.is_list, caller);
    const auto to = view_of<Out>(p.d, matrix, p.is_list, caller);
    for (int j = 0; j < columns.size; ++j) {
      for (int i = 0; i < rows.size; ++i) {
        const long long row = rows.first + i, column = columns.first + j;
        Sum value = factor * sums[j * kTile + i];
        if (old_factor != 0)
          value += old_factor * static_cast<Sum>(load(c.at(row, column), caller));
        store(to.at(row, column), static_cast<Out>(value), caller);
      }
    }
  }
};

template <class In, class Out, class Sum, class Factor = Sum>
cublasStatus_t launch_product(const LibraryCall& call, const Product& p) {
  const auto scalar = [&](const void* number) {
    return Scalar<Factor>(static_cast<const Factor*>(number), p.pointers, call.caller);
  };
  const long long tiles = (p.m + kTile - 1) / kTile * ((p.n + kTile - 1) / kTile) * p.count;
  if (tiles == 0) return CUBLAS_STATUS_SUCCESS;
  const Kernel<In, Out, Sum, Factor> kernel{p, scalar(p.alpha), scalar(p.beta), call.caller};
  const bool is_separate = p.c.data != p.d.data;
  const auto name = [&]<class T>(const char* text, const Matrix& matrix, const T*) {
    return p.is_list ? named(text, static_cast<const T* const*>(matrix.data))
                     : named(text, static_cast<const T*>(matrix.data));
  };
  const In* const in = nullptr;
  const Out* const out = nullptr;
  std::vector<PointerArgument> pointers{name("A", p.a, in), name("B", p.b, in),
                                        name("C", p.c, out)};
  if (is_separate) pointers.push_back(name("D", p.d, out));
  return status_of(launch_body(call, std::move(pointers), static_cast<unsigned>(tiles), 2, kernel));
}

/// True if columns of op(matrix) with so many rows and columns have room.
bool has_room(const Matrix& matrix, long long rows, long long columns) {
  const long long height = matrix.op == CUBLAS_OP_N ? rows : columns;
  return is_operation(matrix.op) && matrix.ld >= std::max(1LL, height);
}

bool is_one_of(cublasComputeType_t type, std::initializer_list<cublasComputeType_t> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

cublasStatus_t multiply(const LibraryCall& call, const Product& p) {
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0 || p.alpha == nullptr || p.beta == nullptr ||
      !has_room(p.a, p.m, p.k) || !has_room(p.b, p.k, p.n) || !has_room(p.c, p.m, p.n) ||
      !has_room(p.d, p.m, p.n)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool in_float = is_one_of(
      p.compute, {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_COMPUTE_32F_FAST_16F,
                  CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F_FAST_TF32});
  const bool in_half = is_one_of(p.compute, {CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC});
  const bool in_double = is_one_of(p.compute, {CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC});
  const cudaDataType in = p.a.type, out = p.d.type;
  if (p.b.type != in || p.c.type != out) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto is = [&](cudaDataType a, cudaDataType d) { return in == a && out == d; };
  if (in_double && is(CUDA_R_64F, CUDA_R_64F)) {
    return launch_product<double, double, double>(call, p);
  }
  if (in_half && is(CUDA_R_16F, CUDA_R_16F)) {
    return launch_product<__half, __half, float, __half>(call, p);
  }
  if (!in_float) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (is(CUDA_R_32F, CUDA_R_32F)) return launch_product<float, float, float>(call, p);
  if (is(CUDA_R_16F, CUDA_R_16F)) return launch_product<__half, __half, float>(call, p);
  if (is(CUDA_R_16F, CUDA_R_32F)) return launch_product<__half, float, float>(call, p);
  if (is(CUDA_R_16BF, CUDA_R_16BF)) {
    return launch_product<__nv_bfloat16, __nv_bfloat16, float>(call, p);
  }
  if (is(CUDA_R_16BF, CUDA_R_32F)) return launch_product<__nv_bfloat16, float, float>(call, p);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace simt
