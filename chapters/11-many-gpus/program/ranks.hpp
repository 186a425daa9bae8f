// The ranks: processes that mpirun has started, one per device. None waits without a limit: after it
// a rank that is not missing names those that are, and ends all.
#pragma once

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <course/error.cuh>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Seconds = std::chrono::duration<double>;

/// Asks done() until it is true, for `limit` at most; the last answer. Asks without a pause for the
/// first 20 ms, because a reduction takes microseconds, and then 5,000 times a second.
bool poll(const auto& done, Seconds limit) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    const Seconds passed = std::chrono::steady_clock::now() - start;
    if (passed > limit) return done();
    passed < Seconds(0.02) ? std::this_thread::yield() : std::this_thread::sleep_for(Seconds(2e-4));
  }
  return true;
}

/// A rank that cannot name the missing one waits before it speaks: meanwhile another one may know it.
constexpr Seconds kWaitForOthers(5);

/// One rank speaks, and ends all before it is the turn of another one: mpirun wakes the ranks that are
/// stopped, and a second later it ends all.
inline void print_missing(Seconds turn, const std::string& missing, const char* call,
                          Seconds limit) {
  std::this_thread::sleep_for(turn);
  fmt::print(stderr, "sum_mpi: no answer from{}: {} has not ended after {:.3g} s\n", missing, call,
             limit.count());
}

/// For calls that wait for other ranks and cannot be polled: if it still lives after `limit`, it ends
/// this process, and so mpirun ends the others.
class Watchdog {
 public:
  Watchdog(const char* call, Seconds limit)
      : thread_([=](const std::stop_token& stop) {
          if (poll([&] { return stop.stop_requested(); }, limit)) return;
          const char* const rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
          const Seconds turn = (rank == nullptr ? 0 : std::atoi(rank)) * Seconds(3);
          print_missing(turn, missing(), call, limit);
          std::_Exit(1);
        }) {}

 private:
  /// " rank 2": mpirun has started it on this host, and it is stopped or does not run this program.
  /// mpirun gives each process its rank in a variable; MPI knows no other rank before MPI_Init ends.
  static std::string missing() {
    std::string missing;
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
      std::string number, name, state, parent, variable;
      std::ifstream(process.path() / "stat") >> number >> name >> state >> parent;
      if (parent != std::to_string(getppid()) || (name == "(sum_mpi)" && state != "T")) continue;
      std::ifstream variables(process.path() / "environ");
      while (std::getline(variables, variable, '\0')) {
        if (variable.starts_with("PMIX_RANK=")) missing += " rank " + variable.substr(10);
      }
    }
    if (!missing.empty()) return missing;
    std::this_thread::sleep_for(kWaitForOthers);
    return " an unknown rank";
  }

  std::jthread thread_;
};

inline bool is_done(MPI_Request* request) {
  int done = 0;
  MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return done != 0;  // and again next time
}

/// All ranks. Every collective has to be called by all of them, in the same order.
struct Team {
  Seconds limit;                                      // how long ranks wait for one another
  int rank = 0, size = 1, local_rank = 0, hosts = 0;  // local: among the ranks of this host

  /// An error of MPI itself ends all ranks, with a message that names the rank: MPI's default.
  explicit Team(Seconds limit) : limit(limit) {
    const Watchdog watchdog("MPI_Init", limit);
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm same_host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &same_host);
    MPI_Comm_rank(same_host, &local_rank);
    MPI_Comm_free(&same_host);
    const int first_of_host = local_rank == 0;
    all_reduce(&first_of_host, &hosts, 1, MPI_INT, MPI_SUM);
  }
  ~Team() {
    const Watchdog watchdog("MPI_Finalize", limit);
    MPI_Finalize();
  }
  Team(const Team&) = delete;

  void barrier() const {
    wait("MPI_Ibarrier", [](MPI_Request* request) { MPI_Ibarrier(MPI_COMM_WORLD, request); });
  }
  /// out = in of all ranks, combined element by element. At most 2^31 - 1 elements.
  void all_reduce(const void* in, void* out, std::size_t n, MPI_Datatype type, MPI_Op op) const {
    wait("MPI_Iallreduce", [&](MPI_Request* request) {
      MPI_Iallreduce(in, out, static_cast<int>(n), type, op, MPI_COMM_WORLD, request);
    });
  }
  /// start(request) begins a call of MPI; waits until it has ended.
  void wait(const char* call, const auto& start) const {
    MPI_Request request = MPI_REQUEST_NULL;
    start(&request);
    if (!poll([&] { return is_done(&request); }, limit)) give_up(call);
  }

  /// `call` waits in vain. Every rank that is not missing comes here, up to `limit` later than this
  /// one, and sends all ranks an empty message: so each one sees from whom there is none, and that the
  /// lowest of the others is to speak.
  [[noreturn]] void give_up(const char* call) const {
    std::vector<MPI_Request> sent(static_cast<std::size_t>(size)), received(sent);
    for (int other = 0; other < size; ++other) {
      MPI_Isend(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, sent.data() + other);
      MPI_Irecv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, received.data() + other);
    }
    std::string missing;
    int speaker = size;
    const auto all_are_here = [&] {
      missing.clear();
      for (int other = size; other-- > 0;) {
        if (is_done(received.data() + other)) {
          speaker = other;
        } else {
          missing = fmt::format(" rank {}", other) + missing;
        }
      }
      return missing.empty();
    };
    if (poll(all_are_here, limit)) {
      std::this_thread::sleep_for(kWaitForOthers);  // this rank may be the one that was stopped
      missing = " a device";
    }
    print_missing(rank == speaker ? Seconds(0) : limit + kWaitForOthers, missing, call, limit);
    MPI_Abort(MPI_COMM_WORLD, 1);  // ends all ranks, those that do not answer, too
    std::abort();                  // MPI_Abort does not return
  }
};

#if COURSE_HAS_NCCL
#include <nccl.h>

/// A communicator of all ranks. It is non-blocking: no call waits for another rank, so this one can
/// notice that a rank is missing. NCCL itself never does: it waits. Throws std::runtime_error.
class Nccl {
 public:
  explicit Nccl(const Team& team) : team_(team) {
    ncclUniqueId id{};
    if (team.rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    team.wait("MPI_Ibcast", [&](MPI_Request* request) {
      MPI_Ibcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD, request);
    });
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    wait(ncclCommInitRankConfig(&comm_, team.size, id, team.rank, &config), "ncclCommInitRank");
  }
  ~Nccl() { abort(); }
  Nccl(const Nccl&) = delete;
  /// The end, if all went well.
  void close() {
    wait(ncclCommFinalize(comm_), "ncclCommFinalize");
    check(ncclCommDestroy(std::exchange(comm_, nullptr)), "ncclCommDestroy");
  }
  /// d_out = the sum of d_in over all ranks, on every rank. Waits.
  void all_reduce(const void* d_in, void* d_out, std::size_t n, ncclDataType_t type,
                  cudaStream_t stream) {
    wait(ncclAllReduce(d_in, d_out, n, type, ncclSum, comm_, stream), "ncclAllReduce", stream);
  }

 private:
  /// Until NCCL has done its part on the host, and then the device, which needs the other devices.
  void wait(ncclResult_t result, const char* call, cudaStream_t stream = nullptr) {
    check(result, call);
    cudaError_t state = cudaErrorNotReady;
    const auto is_done = [&] {
      check(ncclCommGetAsyncError(comm_, &result), "ncclCommGetAsyncError");
      check(result, call);
      if (result == ncclSuccess) state = cudaStreamQuery(stream);
      return state != cudaErrorNotReady;
    };
    if (!poll(is_done, team_.limit)) check(ncclRemoteError, call);
    CUDA_CHECK(state);
  }
  void check(ncclResult_t result, const char* call) {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const std::string error = fmt::format("{}: {}: {}; NCCL_DEBUG=WARN tells more", call,
                                          ncclGetErrorString(result), ncclGetLastError(comm_));
    abort();
    if (result == ncclRemoteError) team_.give_up(call);  // the connection to another rank is lost
    throw std::runtime_error(error);
  }
  /// Ends what runs: a kernel that lacks a partner runs for ever, and cudaFree() would wait for it.
  void abort() {
    const Watchdog watchdog("ncclCommAbort", team_.limit);
    if (comm_ != nullptr) static_cast<void>(ncclCommAbort(std::exchange(comm_, nullptr)));
  }

  const Team& team_;
  ncclComm_t comm_ = nullptr;
};
#endif
