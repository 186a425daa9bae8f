// Construct: cuRAND's XORWOW in a kernel, the numbers that NVIDIA's header draws. Expect: runs.
// The expected numbers are those of NVIDIA's curand_kernel.h of CUDA 13.0, compiled for the host, where its functions may be
// called, too, when QUALIFIERS is defined as `static inline __host__ __device__`.
#include <cstdio>

#include <curand_kernel.h>

struct Drawn {
  unsigned long long seed, sequence, offset;
  unsigned bits[8];  // 6 in a row, one 1,000,003 later, one 5 sequences later
  float uniform;
  double uniform_double;
  float normal[5];  // of curand_normal() three times, of curand_normal2()
  double normal_double;
  unsigned last;
};

constexpr Drawn kExpected[] = {
    {0u,
     0u,
     0u,
     {3179217846u, 1883133293u, 2220552389u, 674260989u, 306521119u, 1986458431u, 2375563580u,
      3114012219u},
     0.69495362f,
     0.0091453965900056278,
     {-0.307312936f, 0.121019863f, 0.3816652f, 0.197573125f, 0.220874161f},
     0.73243075215580233,
     83530957u},
    {1234u,
     0u,
     0u,
     {624778773u, 1867875844u, 3739671282u, 1954919316u, 3681184389u, 2501467243u, 406099127u,
      2744483756u},
     0.75700748f,
     0.54692902931458032,
     {-0.654849946f, 0.629729509f, 2.09586763f, -1.22850001f, 0.656338871f},
     0.36283753105071836,
     2929934734u},
    {1234u,
     1u,
     0u,
     {3522650202u, 3978931785u, 2198015705u, 2308946676u, 3475686971u, 75263415u, 3384809590u,
      45445134u},
     0.00891586766f,
     0.24448276207409886,
     {0.638883352f, 0.293938726f, 1.358634f, -1.28418481f, -0.0551358722f},
     0.14405870999935735,
     1730284521u},
    {1234u,
     77u,
     3u,
     {342776314u, 3989926291u, 4113011543u, 1602733491u, 3563552947u, 411432086u, 493850613u,
      1300327238u},
     0.980839968f,
     0.9892440950833763,
     {1.58605182f, 0.90682888f, -0.430357397f, 0.116402864f, -1.04802954f},
     1.4334673898879331,
     601331105u},
    {18446744073709551615ull,
     1u,
     12345678901u,
     {748482585u, 3911528739u, 1274522575u, 3767761297u, 765414076u, 969843682u, 3168689878u,
      4147691280u},
     0.565151691f,
     0.14623160625447446,
     {-0.35466969f, 0.84881717f, 0.246325165f, -0.151170596f, -0.986997783f},
     -1.7163175514959503,
     1055928843u},
    {42u,
     81985529216486895ull,
     18364758544493064720ull,
     {1436772184u, 2397784872u, 1302812836u, 2871805120u, 2774149682u, 2896916696u, 1707971635u,
      2601970532u},
     0.838085592f,
     0.66181790797294604,
     {0.68121624f, 1.69099081f, -1.92722094f, 0.574002981f, -0.709039807f},
     -0.88796651086004397,
     1732588088u},
    {7u,
     255u,
     1u,
     {1491890728u, 572340073u, 154444144u, 3714402705u, 871824208u, 718330445u, 3720032225u,
      3631766717u},
     0.10327746f,
     0.53523222705669959,
     {1.44209182f, -0.711267769f, 1.65044618f, -0.0500375479f, 0.0335185565f},
     0.53678711201313967,
     375541516u},
};
constexpr int kCases = sizeof(kExpected) / sizeof(Drawn);

__global__ void init(curandState* states, const Drawn* wanted) {
  const int i = threadIdx.x;
  curand_init(wanted[i].seed, wanted[i].sequence, wanted[i].offset, &states[i]);
}

__global__ void draw(curandState* states, Drawn* drawn) {
  curandState local = states[threadIdx.x];
  Drawn& d = drawn[threadIdx.x];
  for (int i = 0; i < 6; ++i) d.bits[i] = curand(&local);
  skipahead(1000003, &local);
  d.bits[6] = curand(&local);
  skipahead_sequence(5, &local);
  d.bits[7] = curand(&local);
  d.uniform = curand_uniform(&local);
  states[threadIdx.x] = local;
}

__global__ void draw_more(curandState* states, Drawn* drawn) {
  curandState* state = &states[threadIdx.x];
  Drawn& d = drawn[threadIdx.x];
  d.uniform_double = curand_uniform_double(state);
  for (int i = 0; i < 3; ++i) d.normal[i] = curand_normal(state);
  const float2 pair = curand_normal2(state);
  d.normal[3] = pair.x;
  d.normal[4] = pair.y;
  d.normal_double = curand_normal_double(state);
  d.last = curand(state);
}

bool near(double a, double b) { return a - b < 1e-5 && b - a < 1e-5; }

/// The number of values that differ.
int compare(const Drawn& a, const Drawn& b) {
  int wrong =
      (a.uniform != b.uniform) + (a.uniform_double != b.uniform_double) + (a.last != b.last);
  for (int i = 0; i < 8; ++i) wrong += a.bits[i] != b.bits[i];
  for (int i = 0; i < 5; ++i) wrong += !near(a.normal[i], b.normal[i]);
  return wrong + !near(a.normal_double, b.normal_double);
}

int main() {
  curandState* d_states;
  Drawn *d_drawn, drawn[kCases];
  cudaMalloc(&d_states, kCases * sizeof(curandState));
  cudaMalloc(&d_drawn, sizeof drawn);
  cudaMemcpy(d_drawn, kExpected, sizeof drawn, cudaMemcpyHostToDevice);
  init<<<1, kCases>>>(d_states, d_drawn);
  draw<<<1, kCases>>>(d_states, d_drawn);
  draw_more<<<1, kCases>>>(d_states, d_drawn);
  cudaMemcpy(drawn, d_drawn, sizeof drawn, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCases; ++i) wrong += compare(drawn[i], kExpected[i]);
  std::printf("%s: %d values differ, a state has %zu bytes\n", wrong ? "FAILED" : "ok", wrong,
              sizeof(curandState));
  return wrong != 0;
}
