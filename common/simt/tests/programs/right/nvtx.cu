// Construct: NVTX: ranges, marks, names, event attributes, nvtx3.hpp; nothing listens to them. Expect: runs.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <stdio.h>
#include <string.h>

#include <nvtx3/nvtx3.hpp>
#include <string>

struct app {
  static constexpr const char* name = "app";
};

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

void coloured_range(const char* name, unsigned color) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = color;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = 7;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxRangePushEx(&event);
}

int copied(int i) {
  NVTX3_FUNC_RANGE();
  nvtx3::scoped_range range("copied " + std::to_string(i));
  return i;
}

int main() {
  int x[32], *d_x;
  nvtxNameCudaDeviceA(0, "the first");
  nvtxNameOsThread(1, "main");
  nvtxRangePushA("allocate");
  cudaMalloc(&d_x, sizeof(x));
  nvtxRangePop();

  coloured_range("fill", 0xff00ff00);
  fill<<<1, 32>>>(d_x);
  nvtxRangePop();
  nvtxMark("launched");

  const nvtxRangeId_t id = nvtxRangeStartA("copy");
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  nvtxRangeEnd(id);

  nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
  nvtxDomainRangePushEx(domain, nullptr);
  nvtxDomainRangePop(domain);
  nvtxDomainDestroy(domain);

  nvtx3::mark("checks");
  nvtx3::unique_range checks("check", nvtx3::rgb{127, 255, 0}, nvtx3::payload{32});
  nvtx3::scoped_range_in<app> range{nvtx3::event_attributes{"all", nvtx3::category{1}}};
  const auto handle = nvtx3::start_range("loop");
  for (int i = 0; i < 32; ++i) {
    if (copied(x[i]) != i) return printf("FAILED at %d\n", i), 1;
  }
  nvtx3::end_range(handle);
  cudaFree(d_x);
  printf("PASSED\n");
  return 0;
}
