// NCCL's all-reduce, between the devices, over the fastest links that they have.
#include "engine.hpp"
#include "errors.hpp"

#if COURSE_HAS_NCCL

#include <fmt/format.h>
#include <nccl.h>

#include <course/error.cuh>
#include <utility>

namespace {

/// One rank's communicator. It is non-blocking: no call of NCCL waits for another rank, so a rank
/// that is missing can be noticed. NCCL itself never notices one that hangs: it waits.
class NcclEngine : public Engine {
 public:
  NcclEngine(Team& team, cudaStream_t stream) : team_(team), stream_(stream) {}
  ~NcclEngine() override {
    if (comm_ != nullptr) static_cast<void>(ncclCommAbort(comm_));  // close() was not reached
  }
  NcclEngine(const NcclEngine&) = delete;
  NcclEngine& operator=(const NcclEngine&) = delete;

  void open() override {
    ncclUniqueId id{};
    if (team_.rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    team_.broadcast(&id, sizeof id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&comm_, team_.size(), id, team_.rank(), &config),
          "ncclCommInitRankConfig");
    wait_for_nccl("ncclCommInitRankConfig");
  }
  void close() override {
    check(ncclCommFinalize(comm_), "ncclCommFinalize");
    wait_for_nccl("ncclCommFinalize");
    check(ncclCommDestroy(std::exchange(comm_, nullptr)), "ncclCommDestroy");
  }
  std::string name() const override {
    int version = 0;  // 22809 is 2.28.9
    check(ncclGetVersion(&version), "ncclGetVersion");
    return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }
  void all_reduce(const double* d_in, double* d_out, std::size_t n) override {
    all_reduce(d_in, d_out, n, ncclDouble);
  }
  void all_reduce(const float* d_in, float* d_out, std::size_t n) override {
    all_reduce(d_in, d_out, n, ncclFloat);
  }

 private:
  void all_reduce(const void* d_in, void* d_out, std::size_t n, ncclDataType_t type) {
    check(ncclAllReduce(d_in, d_out, n, type, ncclSum, comm_, stream_), "ncclAllReduce");
    wait_for_nccl("ncclAllReduce");
    wait_for_stream();
  }

  void check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    if (result == ncclRemoteError) throw TimedOut(fmt::format("{} has lost another rank", call));
    throw Failure(fmt::format("{}: {}: {}; NCCL_DEBUG=WARN tells more", call,
                              ncclGetErrorString(result), ncclGetLastError(comm_)));
  }
  bool ready(const char* call) const {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    check(state, call);
    return state != ncclInProgress;
  }
  /// Until the call has done its part on the host.
  void wait_for_nccl(const char* call) const {
    if (!poll([&] { return ready(call); }, team_.patience())) throw_timed_out(call);
  }
  /// Until the device has done its part, for which it needs the other devices.
  void wait_for_stream() const {
    const auto done = [&] {
      const cudaError_t state = cudaStreamQuery(stream_);
      static_cast<void>(ready("ncclAllReduce"));  // throws if NCCL has found something wrong
      if (state == cudaErrorNotReady) return false;
      CUDA_CHECK(state);
      return true;
    };
    if (!poll(done, team_.patience())) throw_timed_out("ncclAllReduce");
  }
  [[noreturn]] void throw_timed_out(const char* call) const {
    throw TimedOut(fmt::format("{} has not ended after {:.3g} s, the --timeout", call,
                               team_.patience().count()));
  }

  Team& team_;
  cudaStream_t stream_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> make_nccl_engine(Team& team, cudaStream_t stream) {
  return std::make_unique<NcclEngine>(team, stream);
}

bool has_nccl() { return true; }

#else

std::unique_ptr<Engine> make_nccl_engine(Team&, cudaStream_t) {
  throw NotHere(
      "--engine nccl: this program was built without NCCL: it needs -Ddevice=cuda, nccl.h and "
      "libnccl (package libnccl-dev); --engine mpi does without");
}

bool has_nccl() { return false; }

#endif
