// Inline PTX that common/build/rewriter/ptx.py translates. nvcc compiles the same file.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace {

/// What a kernel of one warp leaves in 64 words.
std::vector<unsigned> run(void (*kernel)(unsigned*)) {
  unsigned* d_out = nullptr;
  std::vector<unsigned> out(64);
  REQUIRE(cudaMalloc(&d_out, 64 * sizeof(unsigned)) == cudaSuccess);
  REQUIRE(cudaMemset(d_out, 0, 64 * sizeof(unsigned)) == cudaSuccess);
  kernel<<<1, 32>>>(d_out);
  REQUIRE(cudaMemcpy(out.data(), d_out, 64 * sizeof(unsigned), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
  REQUIRE(cudaFree(d_out) == cudaSuccess);
  return out;
}

__device__ unsigned lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__global__ void special(unsigned* out) {
  unsigned lt, le, gt, ge, eq, tid, warp, width;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm("mov.u32 %0, %%tid.x;" : "=r"(tid));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, WARP_SZ;" : "=r"(width));
  const unsigned bit = 1u << threadIdx.x;
  const bool right = eq == bit && lt == bit - 1 && le == (bit | lt) && gt == ~le && ge == ~lt &&
                     tid == lane() && warp == 0 && width == 32;
  out[threadIdx.x] = right;
}

__global__ void arithmetic(unsigned* out) {
  unsigned r[16] = {};
  unsigned long long wide;
  float f = 2;
  asm("add.u32 %0, %1, %2;" : "=r"(r[0]) : "r"(3), "n"(4));
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r[1]) : "r"(-3), "r"(4), "r"(20));
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(1u << 31), "r"(6u));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(r[2]), "=r"(r[3]) : "l"(wide));
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r[4]) : "r"(0xabcd));
  asm("bfe.s32 %0, %1, 4, 4;" : "=r"(r[5]) : "r"(0xabcd));
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r[6]) : "r"(0xf), "r"(0));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r[7]) : "r"(12), "r"(10), "r"(1));
  asm("prmt.b32 %0, %1, %2, 0x3210;" : "=r"(r[8]) : "r"(0x1234), "r"(0));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r[9]) : "r"(0x80000000), "r"(1), "r"(1));
  asm("clz.b32 %0, %1;" : "=r"(r[10]) : "r"(1));
  asm("shl.b32 %0, %1, %2;" : "=r"(r[11]) : "r"(1), "r"(32));
  asm("fma.rn.f32 %0, %0, %1, 0f3F800000;" : "+f"(f) : "f"(3.0f));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r[12]) : "f"(-f));
  asm("{\n\t"
      "  .reg .pred p;\n\t"
      "  .reg .b32 t;\n\t"
      "  setp.ge.s32 p, %1, 16;  // the upper half\n\t"
      "  @p  mov.b32 t, 100;\n\t"
      "  @!p mov.b32 t, 5;\n\t"
      "  add.u32 %0, t, %1;\n\t"
      "}"
      : "=r"(r[13])
      : "r"(threadIdx.x));
  if (threadIdx.x == 16) {
    for (int i = 0; i < 16; ++i) out[i] = r[i];
  }
}

__global__ void memory(unsigned* out) {
  __shared__ unsigned s[32];
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x]));
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(threadIdx.x) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  unsigned first, second, old;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(first) : "r"(at ^ 4));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(second) : "r"(threadIdx.x));
  asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(out + 40) : "memory");
  asm volatile("red.release.gpu.global.max.u32 [%0+4], %1;" ::"l"(out + 40), "r"(old) : "memory");
  asm volatile("membar.gl;" ::: "memory");
  asm volatile("" ::: "memory");
  asm volatile("st.global.u32 [%0], %1;" ::"l"(out + threadIdx.x), "r"(int(first == second))
               : "memory");
}

__global__ void vectors(unsigned* out) {
  unsigned a, b, c, d;
  if (threadIdx.x == 0) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(out), "r"(1), "r"(2), "r"(3),
                 "r"(4)
                 : "memory");
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(out));
    asm volatile("st.global.v2.u32 [%0+16], {%1, %2};" ::"l"(out), "r"(a + b), "r"(c + d));
  }
}

}  // namespace

TEST_CASE("special registers") {
  const std::vector<unsigned> out = run(special);
  for (int i = 0; i < 32; ++i) REQUIRE(out[i] == 1);
}

TEST_CASE("arithmetic, bits, predicates and registers of its own") {
  const std::vector<unsigned> out = run(arithmetic);
  const unsigned expected[] = {7, 8,      0, 3,  0xbc, 0xfffffffc,   0xf00,
                               7, 0x1234, 3, 31, 0,    unsigned(-7), 116};
  for (int i = 0; i < 14; ++i) {
    CAPTURE(i);
    REQUIRE(out[i] == expected[i]);
  }
}

TEST_CASE("loads, stores, atomics, barriers and shuffles") {
  std::vector<unsigned> out = run(memory);
  for (int i = 0; i < 32; ++i) REQUIRE(out[i] == 1);
  REQUIRE(out[40] == 32);
  REQUIRE(out[41] == 31);
  out = run(vectors);
  const unsigned expected[] = {1, 2, 3, 4, 3, 7};
  for (int i = 0; i < 6; ++i) REQUIRE(out[i] == expected[i]);
}
