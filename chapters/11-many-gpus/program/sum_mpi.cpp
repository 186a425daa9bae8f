// sum_mpi: the sum of an array that is spread over many GPUs, one process per GPU.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <course/buffer.cuh>
#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <course/ladder.cuh>
#include <course/timing.cuh>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "../shares.cuh"
#include "../streams.cuh"
#include "on_device.cuh"
#include "ranks.hpp"

namespace {

struct Options {
  std::size_t n = std::size_t{1} << (course::kCpuDevice ? 16 : 30), vector_bytes = 0;
  std::string engine = COURSE_HAS_NCCL ? "nccl" : "mpi", json;
  int samples = 20;
  double timeout = 10;
};

CLI::Validator multiple_of(std::size_t unit, std::size_t most) {
  const auto check = [=](std::string& text) {
    const std::size_t number = course::parse_size(text).value_or(0);
    const bool fits = number > 0 && number <= most && number % unit == 0;
    if (fits) text = std::to_string(number);
    return fits ? "" : fmt::format("{} is not a multiple of {} up to {}", text, unit, most);
  };
  return {check, "N"};
}

void require(bool is_right, const std::string& text) {
  if (!is_right) throw std::runtime_error(text);
}

/// One rank's work, on the current device. All ranks do the same. Throws std::runtime_error.
class Run {
 public:
  std::string text;             // what was found, for people
  nlohmann::ordered_json json;  // and for programs

  Run(const Options& options, const Team& team) : options_(options), team_(team) {
    std::string engine = "MPI";
#if COURSE_HAS_NCCL
    if (!through_host_) nccl_.emplace(team);
    if (nccl_) engine = fmt::format("NCCL {}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH);
#endif
    cudaDeviceProp device{};
    CUDA_CHECK(cudaGetDeviceProperties(&device, team.local_rank));
    text = fmt::format("{} rank{} on {} host{}, {}, {}\n", team.size, team.size == 1 ? "" : "s",
                       team.hosts, team.hosts == 1 ? "" : "s", device.name, engine);
    json = {{"schema", 1},           {"ranks", team.size},         {"hosts", team.hosts},
            {"device", device.name}, {"samples", options.samples}, {"engine", engine},
            {"n", options.n},        {"vector", nullptr}};
    sum_array();
    if (options.vector_bytes > 0) sum_vector();
#if COURSE_HAS_NCCL
    if (nccl_) nccl_->close();
#endif
  }

 private:
  /// d_out = the sum of d_in over all ranks, on every rank: n floats or doubles, by `type`. Waits.
  void all_reduce(const void* d_in, void* d_out, std::size_t n, MPI_Datatype type) {
    const cudaStream_t stream = stream_.get();
#if COURSE_HAS_NCCL
    if (nccl_)
      return nccl_->all_reduce(d_in, d_out, n, type == MPI_DOUBLE ? ncclDouble : ncclFloat, stream);
#endif
    const std::size_t bytes = n * (type == MPI_DOUBLE ? sizeof(double) : sizeof(float));
    CUDA_CHECK(cudaMemcpyAsync(in_.data(), d_in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    team_.all_reduce(in_.data(), out_.data(), n, type, MPI_SUM);
    CUDA_CHECK(cudaMemcpyAsync(d_out, out_.data(), bytes, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  /// Times `work` on all ranks at once. A sample is the time of the slowest rank.
  void measure(const char* key, const char* label, const auto& work) {
    std::vector<double> times, slowest(static_cast<std::size_t>(options_.samples));
    for (int i = -3; i < options_.samples; ++i) {  // the first three warm up
      team_.barrier();
      const course::HostTimer timer;
      work();
      if (i >= 0) times.push_back(timer.microseconds());
    }
    team_.all_reduce(times.data(), slowest.data(), times.size(), MPI_DOUBLE, MPI_MAX);
    const course::Quantiles us = course::quantiles(slowest);
    json[key] = {{"median_us", us.median}, {"p10_us", us.p10}, {"p90_us", us.p90}};
    text += fmt::format("  {:20} {:10.1f} us   (p10 {:.1f}, p90 {:.1f})\n", label, us.median,
                        us.p10, us.p90);
  }

  /// Each rank sums its share of the array; then the shares' sums are summed over the ranks.
  void sum_array() {
    const Share share = share_of(options_.n, team_.rank, team_.size);
    course::DeviceBuffer<float> x(share.size);
    course::DeviceBuffer<double> workspace, mine(1), total(1);
    make_floats(share.begin, x.data(), share.size);
    const auto reduce = [&] { all_reduce(mine.data(), total.data(), 1, MPI_DOUBLE); };
    const auto sum = [&] {
      queue_sum(x, workspace, mine.data(), stream_.get());
      reduce();
    };
    sum();
    const double found = total.front(), exact = exact_sum(options_.n);
    require(found == exact, fmt::format("the sum is {}, and has to be {}", found, exact));
    json["value"] = found;
    text += fmt::format("the sum of {} floats: {}, exact\n", options_.n, found);
    measure("sum", "shares and reduction", sum);
    measure("reduction", "reduction alone", reduce);
  }

  /// Sums a vector of each rank, element by element. That of rank r begins with the array's element r.
  void sum_vector() {
    const std::size_t bytes = options_.vector_bytes, n = bytes / sizeof(float);
    course::DeviceBuffer<float> mine(n), total(n);
    make_floats(static_cast<std::size_t>(team_.rank), mine.data(), n);
    const auto sum = [&] { all_reduce(mine.data(), total.data(), n, MPI_FLOAT); };
    sum();
    const std::vector<float> values = table(), found = total.download();
    bool is_exact = true;
    for (std::size_t first = 0; first < values.size(); ++first) {
      float exact = 0;
      for (int r = 0; r < team_.size; ++r) exact += values[(first + r) % values.size()];
      for (std::size_t i = first; i < n; i += values.size()) is_exact &= found[i] == exact;
    }
    require(is_exact, "the all-reduce of the vector is wrong");
    text += fmt::format("the all-reduce of {} bytes: exact\n", bytes);
    measure("vector", "time", sum);
    const double us = json["vector"]["median_us"];
    const double gbps = 2e-3 * (team_.size - 1) / team_.size * static_cast<double>(bytes) / us;
    json["vector"].update({{"bytes", bytes}, {"bus_gbps", gbps}});
    text += fmt::format("  bus bandwidth        {:10.2f} GB/s\n", gbps);
  }

  const Options& options_;
  const Team& team_;
  const bool through_host_ = options_.engine == "mpi";  // MPI sees no memory of a device
  const std::size_t bytes_ = through_host_ ? std::max(options_.vector_bytes, sizeof(double)) : 0;
  const Stream stream_;
  course::PinnedBuffer<std::byte> in_{bytes_}, out_{bytes_};
#if COURSE_HAS_NCCL
  std::optional<Nccl> nccl_;
#endif
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Sums an array that is spread over GPUs, one process each: mpirun -n 2 sum_mpi --n 2^30\n"
      "Exit codes: 1: a rank failed; 2: wrong options; 77: built without MPI");
  app.add_option("--n", options.n, "Floats of the whole array: 1000000, 1e6 or 2^20")
      ->transform(multiple_of(1, std::size_t{1} << 40));
  app.add_option("--vector", options.vector_bytes, "Also sums a vector of so many bytes, of floats")
      ->transform(multiple_of(sizeof(float), 0x7fffffff * sizeof(float)));  // MPI counts in int
  app.add_option("--engine", options.engine, "nccl: from device to device; mpi: through the host")
      ->check(CLI::IsMember({"mpi", "nccl"}));
  app.add_option("--samples", options.samples, "Repetitions")->check(CLI::Range(1, 1'000'000));
  app.add_option("--timeout", options.timeout, "Seconds that ranks wait for one another")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--json", options.json, "Writes the results there, too");
  int code = 0;
  std::string text;
  try {
    app.parse(argc, argv);
    if (options.engine == "nccl" && !COURSE_HAS_NCCL)
      throw CLI::ValidationError("--engine nccl", "this program was built without NCCL");
  } catch (const CLI::ParseError& error) {
    code = error.get_exit_code() == 0 ? 0 : 2;
    text = code == 0 ? app.help()
                     : fmt::format("sum_mpi: {}; sum_mpi --help tells more\n", error.what());
  }
  const Team team{Seconds(options.timeout)};
  if (!text.empty()) {
    if (team.rank == 0) fmt::print(code == 0 ? stdout : stderr, "{}", text);  // it speaks for all
    return code;
  }
  try {
    std::ofstream file;
    if (team.rank == 0 && !options.json.empty()) file.open(options.json);
    require(!file.fail(), options.json + ": cannot be written: " + std::strerror(errno));
    const int devices = course::device_count();
    require(team.local_rank < devices,
            fmt::format("needs device {0}, and its host has {1}: mpirun --map-by ppr:{1}:node",
                        team.local_rank, devices));
    const course::OnDevice on(team.local_rank);
    const Run found(options, team);
    if (team.rank == 0) fmt::print("{}", found.text);
    if (file.is_open()) file << found.json.dump(2) << std::endl;
    require(std::fflush(stdout) == 0 && !file.fail(), "the results cannot be written");
  } catch (const std::exception& error) {
    fmt::print(stderr, "sum_mpi: rank {}: {}\n", team.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
