// Construct: cuRAND's Philox4_32_10 in a kernel, the numbers that NVIDIA's header draws. Expect: runs.
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
     {1713891541u, 3781805453u, 3159862348u, 2600524760u, 4175744164u, 1555169499u, 3549109422u,
      4217035567u},
     0.72880137f,
     0.29317521024495363,
     {-0.547852039f, 1.51156032f, -0.117403261f, -1.01179183f, -0.884757698f},
     -1.7984947407998577,
     3276797041u},
    {1234u,
     0u,
     0u,
     {546353992u, 3665621163u, 1140953199u, 3419031310u, 2666454581u, 482218876u, 1071227132u,
      3274622808u},
     0.0810521916f,
     0.79647658695466816,
     {-0.536959291f, -1.30623043f, -0.591342866f, 0.22964856f, -0.0390900373f},
     0.15377667141988158,
     1750401870u},
    {1234u,
     1u,
     0u,
     {3507855656u, 1392278645u, 3354607383u, 253049307u, 118660703u, 1698527859u, 3170065505u,
      2567966730u},
     0.692831516f,
     0.66454398888163269,
     {-2.01217866f, -0.0499694906f, 0.0340875983f, 1.76768482f, 0.318844825f},
     -1.0948014979593603,
     293201970u},
    {1234u,
     77u,
     3u,
     {181365914u, 970875219u, 1212756008u, 792187149u, 4214814024u, 2094081686u, 3128566942u,
      1005798994u},
     0.686184287f,
     0.1498713530600071,
     {-1.27218187f, 0.297550499f, 0.0967318714f, -0.804199636f, -1.05625165f},
     0.21441833088160164,
     2646725912u},
    {18446744073709551615ull,
     1u,
     12345678901u,
     {1145164546u, 713391967u, 213861471u, 2311743009u, 1038416832u, 3617294470u, 38714331u,
      2485163575u},
     0.671478093f,
     0.82868138514459133,
     {0.349188566f, -0.652694523f, 1.96751952f, -0.537398636f, -0.795799315f},
     0.68248675706724971,
     3839669644u},
    {42u,
     81985529216486895ull,
     18364758544493064720ull,
     {2120748281u, 4139694696u, 2539904156u, 3905913807u, 170638881u, 661875639u, 3841786996u,
      2373723145u},
     0.794398725f,
     0.98367607733234763,
     {0.615547001f, 0.147261009f, -0.455816358f, 1.30452836f, -0.417758316f},
     1.7352349994345979,
     3722572527u},
    {7u,
     255u,
     1u,
     {3880256955u, 2188370472u, 723828252u, 1833934863u, 1141863553u, 718767477u, 2213507887u,
      4128922147u},
     0.398824722f,
     0.024500214960426092,
     {-0.153415799f, -0.124396406f, 0.377864569f, 2.39778614f, 0.626280546f},
     0.86505274714287073,
     3214368507u},
};
constexpr int kCases = sizeof(kExpected) / sizeof(Drawn);

__global__ void init(curandStatePhilox4_32_10_t* states, const Drawn* wanted) {
  const int i = threadIdx.x;
  curand_init(wanted[i].seed, wanted[i].sequence, wanted[i].offset, &states[i]);
}

__global__ void draw(curandStatePhilox4_32_10_t* states, Drawn* drawn) {
  curandStatePhilox4_32_10_t local = states[threadIdx.x];
  Drawn& d = drawn[threadIdx.x];
  for (int i = 0; i < 6; ++i) d.bits[i] = curand(&local);
  skipahead(1000003, &local);
  d.bits[6] = curand(&local);
  skipahead_sequence(5, &local);
  d.bits[7] = curand(&local);
  d.uniform = curand_uniform(&local);
  states[threadIdx.x] = local;
}

__global__ void draw_more(curandStatePhilox4_32_10_t* states, Drawn* drawn) {
  curandStatePhilox4_32_10_t* state = &states[threadIdx.x];
  Drawn& d = drawn[threadIdx.x];
  d.uniform_double = curand_uniform_double(state);
  for (int i = 0; i < 3; ++i) d.normal[i] = curand_normal(state);
  const float2 pair = curand_normal2(state);
  d.normal[3] = pair.x;
  d.normal[4] = pair.y;
  d.normal_double = curand_normal_double(state);
  d.last = curand(state);
}

__global__ void draw_vectors(uint4* bits, float4* uniform, float4* normal, double2* uniform_double,
                             unsigned* last) {
  curandStatePhilox4_32_10_t state;
  curand_init(99, 2, 5, &state);
  curand(&state);
  *bits = curand4(&state);
  *uniform = curand_uniform4(&state);
  *normal = curand_normal4(&state);
  *uniform_double = curand_uniform2_double(&state);
  *last = curand(&state);
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
  curandStatePhilox4_32_10_t* d_states;
  Drawn *d_drawn, drawn[kCases];
  cudaMalloc(&d_states, kCases * sizeof(curandStatePhilox4_32_10_t));
  cudaMalloc(&d_drawn, sizeof drawn);
  cudaMemcpy(d_drawn, kExpected, sizeof drawn, cudaMemcpyHostToDevice);
  init<<<1, kCases>>>(d_states, d_drawn);
  draw<<<1, kCases>>>(d_states, d_drawn);
  draw_more<<<1, kCases>>>(d_states, d_drawn);
  cudaMemcpy(drawn, d_drawn, sizeof drawn, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCases; ++i) wrong += compare(drawn[i], kExpected[i]);

  struct Vectors {
    uint4 bits;
    float4 uniform, normal;
    double2 uniform_double;
    unsigned last;
  } * v;
  cudaMallocManaged(&v, sizeof *v);
  draw_vectors<<<1, 1>>>(&v->bits, &v->uniform, &v->normal, &v->uniform_double, &v->last);
  cudaDeviceSynchronize();
  wrong += v->bits.x != 384730125u || v->bits.y != 2407691912u || v->bits.z != 1693181300u ||
           v->bits.w != 4055202993u;
  wrong += v->uniform.x != 0.574259281f || v->uniform.y != 0.869248629f ||
           v->uniform.z != 0.609376252f || v->uniform.w != 0.479884595f;
  wrong += !near(v->normal.x, 0.699142396) || !near(v->normal.y, -1.57854462) ||
           !near(v->normal.z, -0.187333226) || !near(v->normal.w, -1.05492258);
  wrong += v->uniform_double.x != 0.58673640573653185 ||
           v->uniform_double.y != 0.87251749663862044 || v->last != 2588079386u;
  std::printf("%s: %d values differ, a state has %zu bytes\n", wrong ? "FAILED" : "ok", wrong,
              sizeof(curandStatePhilox4_32_10_t));
  return wrong != 0;
}
