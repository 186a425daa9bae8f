// What a CUDA error means, and what to try.
#include <course/device.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>

#include <cctype>
#include <string>

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

#include "repo_relative_path.hpp"

namespace course {
namespace {

constexpr const char* kLaunchHint =
    "Check <<<grid, block, shared bytes>>>: is the grid or the block size 0 (n = 0?), does the\n"
    "  block have more than 1024 threads, or is it too much shared memory?";

/// The CPU device knows what is impossible; of a GPU only the error's name is known.
std::string launch_hint() {
#if COURSE_CPU_DEVICE
  const std::string& why = simt::refused_launch();
  if (!why.empty()) return static_cast<char>(std::toupper(why[0])) + why.substr(1) + ".";
#endif
  return kLaunchHint;
}

constexpr const char* kReportHint = "The report above names the line of the kernel.";

/// What to try after a call with arguments that it does not take.
std::string arguments_hint(const std::string& call) {
  if (call.starts_with("cudaMemcpy")) {
    return "Check the arguments: is a pointer null, a size larger than the allocation, or a copy\n"
           "  in the wrong direction?";
  }
  if (call.starts_with("cudaFuncSetAttribute(") &&
      call.find("DynamicSharedMemorySize") != std::string::npos) {
    return "A block of this device can have " +
           std::to_string(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) +
           " bytes of shared memory, a kernel's variables included:\n"
           "  does it ask for more?";
  }
  return "Check the arguments: is a pointer null, a number negative, or a size larger than what there is?";
}

/// What to try; empty if the error's own text says it all.
std::string hint(cudaError_t code, const std::string& call) {
  switch (code) {
    case cudaErrorInvalidConfiguration:
      return launch_hint();
    case cudaErrorInvalidValue:
      return arguments_hint(call);
    case cudaErrorMemoryAllocation:
      return "The device's memory is full: is n too large, or was memory not freed?";
    case cudaErrorInvalidDevicePointer:
      return "Is this a host pointer, was it freed already, or is it not the start of an allocation?";
    case cudaErrorInvalidDevice:
      return kCpuDevice ? "SIMT_DEVICES says how many devices the CPU device has: 2 without it."
                        : "cudaGetDeviceCount says how many there are; they count from 0.";
    case cudaErrorInvalidResourceHandle:
      return "Was the stream or event destroyed? For a launch: does the stream belong to a\n"
             "  device that is not current? For cudaEventRecord: are event and stream of one device?";
    case cudaErrorPeerAccessUnsupported:
      return "Call cudaDeviceCanAccessPeer first. cudaMemcpyPeer works without peer access.";
    case cudaErrorIllegalAddress:
      return kCpuDevice
                 ? kReportHint
                 : "A kernel before this call accessed memory outside of its arrays. Build with\n"
                   "  -Ddevice=cpu, or run under compute-sanitizer, to see its line.";
    case cudaErrorMisalignedAddress:
      return kCpuDevice
                 ? kReportHint
                 : "A kernel before this call used an address that is not a multiple of the\n"
                   "  access's size, such as a float4 at an odd element.";
    case cudaErrorLaunchFailure:
      return kCpuDevice
                 ? kReportHint
                 : "A kernel before this call crashed. Build with -Ddevice=cpu, or run under\n"
                   "  compute-sanitizer, to see where.";
    case cudaErrorAssert:
      return "An assert() in a kernel failed; its message is above.";
    case cudaErrorLaunchTimeout:
      return "The kernel ran too long: does one of its loops never end?";
    case cudaErrorLaunchOutOfResources:
      return "The kernel needs too many registers for a block of this size: launch smaller\n"
             "  blocks, or give the kernel __launch_bounds__.";
    case cudaErrorNoDevice:
      return "This program was built for a GPU and finds none: build with -Ddevice=cpu.";
    case cudaErrorInsufficientDriver:
      return "The GPU's driver is older than this CUDA toolkit: update the driver, or build with\n"
             "  -Ddevice=cpu.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidDeviceFunction:
      return "The program contains no code for this GPU: build on the machine that has it, or name\n"
             "  its architecture (-Darch=sm_90).";
    default:
      return "";
  }
}

[[noreturn]] void throw_error(cudaError_t code, const std::string& what, const char* file, int line,
                              const std::string& what_to_try) {
  std::string text = what + " failed: " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) +
                     ")\n  at " + repo_relative_path(file) + ":" + std::to_string(line);
  if (!what_to_try.empty()) text += "\n  " + what_to_try;
  throw CudaError(code, text);
}

}  // namespace

void throw_cuda_error(cudaError_t code, const char* expression, const char* file, int line) {
  // The exception tells of it: the next launch, which did nothing wrong, must not do so again.
  static_cast<void>(cudaGetLastError());
  throw_error(code, expression, file, line, hint(code, expression));
}

void check_launch(const char* file, int line) {
  const cudaError_t code = cudaGetLastError();
  if (code == cudaSuccess) return;
  // CUDA 13 calls an impossible launch an invalid value, older ones an invalid configuration.
  const bool refused = code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue;
  throw_error(code, "the kernel launch before this line", file, line,
              refused ? launch_hint() : hint(code, ""));
}

bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
      return true;
    default:
      return false;
  }
}

}  // namespace course
