// sum_mpi: the sum of an array that is spread over many GPUs, one process per GPU.
#include <fmt/format.h>

#include <cerrno>
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>
#include <course/timing.cuh>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "../shares.cuh"
#include "../streams.cuh"
#include "engine.hpp"
#include "errors.hpp"
#include "on_device.cuh"
#include "options.hpp"
#include "report.hpp"
#include "team.hpp"

namespace {

/// The device of this rank: the first rank of a host takes its device 0, and so on.
int device_of_rank(const Options& options, const Team& team) {
  const int devices = course::device_count();
  const int device = options.fails(Fault::device, team.rank()) ? devices : team.local_rank();
  if (device >= devices) {
    throw Failure(fmt::format(
        "needs device {}, and {} has {}: start at most {} rank{} there (mpirun --map-by "
        "ppr:{}:node)",
        device, team.host(), devices, devices, devices == 1 ? "" : "s", devices));
  }
  return device;
}

/// What --fault asks for while the others wait in an all-reduce.
void fail_on_purpose(const Options& options, int rank) {
  if (options.fails(Fault::dies, rank)) std::raise(SIGKILL);
  if (options.fails(Fault::stops, rank)) std::raise(SIGSTOP);
  if (options.fails(Fault::exits, rank)) std::_Exit(0);
  if (options.fails(Fault::throws, rank)) CUDA_CHECK(cudaSetDevice(-1));
}

/// Times `work` on all ranks at once. A sample is the time of the slowest rank.
course::Quantiles sample(Team& team, int samples, const std::function<void()>& work) {
  constexpr int kWarmUp = 3;
  std::vector<double> times;
  for (int i = -kWarmUp; i < samples; ++i) {
    team.barrier();
    const course::HostTimer timer;
    work();
    if (i >= 0) times.push_back(timer.microseconds());
  }
  return course::quantiles(team.largest(times));
}

class Run {
 public:
  Run(const Options& options, Team& team) : options_(options), team_(team) {}

  Results operator()() {
    results_.ranks = team_.size();
    results_.hosts = team_.hosts();
    choose_device();
    engine_ = options_.engine == "nccl" ? make_nccl_engine(team_, stream_->get())
                                        : make_mpi_engine(team_, stream_->get());
    team_.together("the start of the engine", [&] { engine_->open(); });
    results_.engine = engine_->name();
    add_up_array();
    if (options_.vector_bytes > 0) add_up_vector();
    team_.together("the end of the engine", [&] { engine_->close(); });
    return results_;
  }

 private:
  void choose_device() {
    team_.each("the choice of a device", [&]() -> std::size_t {
      on_device_.emplace(device_of_rank(options_, team_));
      stream_.emplace();
      int device = 0;
      cudaDeviceProp properties{};
      CUDA_CHECK(cudaGetDevice(&device));
      CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
      results_.device = properties.name;
      return 0;
    });
  }

  void add_up_array() {
    std::optional<ShareOnDevice> share;
    course::DeviceBuffer<double> partial, total;
    team_.each("the making of the array", [&]() -> std::size_t {
      share.emplace(share_of(options_.n, team_.rank(), team_.size()));
      partial = course::DeviceBuffer<double>(1);
      total = course::DeviceBuffer<double>(1);
      share->add_up(partial.data(), stream_->get());
      CUDA_CHECK(cudaStreamSynchronize(stream_->get()));
      return total.size();
    });
    team_.together("the sum", [&] {
      fail_on_purpose(options_, team_.rank());
      results_.whole = sample(team_, options_.samples, [&] {
        share->add_up(partial.data(), stream_->get());
        engine_->all_reduce(partial.data(), total.data(), 1);
      });
      results_.reduction = sample(team_, options_.samples,
                                  [&] { engine_->all_reduce(partial.data(), total.data(), 1); });
    });
    team_.each("the check of the sum", [&]() -> std::size_t {
      results_.sum = total.front();
      const double exact = exact_sum(options_.n);
      if (results_.sum == exact) return 0;
      throw Failure(fmt::format("the sum is {}, and has to be {}", results_.sum, exact));
    });
  }

  void add_up_vector() {
    std::size_t n = options_.vector_bytes / sizeof(float);
    if (options_.fails(Fault::length, team_.rank())) --n;
    course::DeviceBuffer<float> mine, total;
    team_.each("the making of the vector", [&] {
      mine = course::DeviceBuffer<float>(n);
      total = course::DeviceBuffer<float>(n);
      make_vector(mine.data(), n, team_.rank());
      return n;
    });
    team_.together("the all-reduce of the vector", [&] {
      results_.vector = sample(team_, options_.samples,
                               [&] { engine_->all_reduce(mine.data(), total.data(), n); });
    });
    team_.each("the check of the vector", [&]() -> std::size_t {
      const auto wrong = wrong_elements(total.data(), n, team_.size());
      if (wrong == 0) return 0;
      throw Failure(fmt::format("{} of {} elements are wrong", wrong, n));
    });
  }

  const Options& options_;
  Team& team_;
  std::optional<course::OnDevice> on_device_;
  std::optional<Stream> stream_;
  std::unique_ptr<Engine> engine_;
  Results results_;
};

void write_file(const std::string& path, const std::string& text,
                std::ios::openmode mode = std::ios::trunc) {
  std::ofstream file(path, std::ios::binary | mode);
  file << text;
  file.close();
  if (!file) throw Failure(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

/// Better now than after the work. A file that was not there is not there afterwards either.
void require_writable(const std::string& path) {
  std::error_code error;
  const bool existed = std::filesystem::exists(path, error);
  write_file(path, "", std::ios::app);
  if (!existed) std::filesystem::remove(path, error);
}

void run(const Options& options) {
  Team team(Seconds(options.timeout));
  if (options.fault != Fault::none && options.faulty_rank >= team.size()) {
    throw BadOptions(fmt::format("--fault: there is no rank {}: the ranks are 0 to {}",
                                 options.faulty_rank, team.size() - 1));
  }
  team.each("--json", [&]() -> std::size_t {
    if (team.rank() == 0 && !options.json.empty()) require_writable(options.json);
    return 0;
  });
  const Results results = Run(options, team)();
  team.each("the report", [&]() -> std::size_t {
    if (team.rank() != 0) return 0;
    std::fputs(to_text(options, results).c_str(), stdout);
    if (std::fflush(stdout) != 0) throw Failure("standard output cannot be written");
    if (!options.json.empty()) write_file(options.json, to_json(options, results));
    return 0;
  });
}

/// All ranks come here with the same error, so one speaks for all.
int report(int rank, const std::string& what, int code) {
  if (rank == 0) std::fputs(("sum_mpi: " + what + "\n").c_str(), stderr);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const Parsed parsed = parse_options(argc, argv);
  const Mpi mpi;
  if (parsed.exit_code == kDone) {
    if (mpi.rank() == 0) std::fputs(parsed.text.c_str(), stdout);
    return kDone;
  }
  if (parsed.exit_code) return report(mpi.rank(), parsed.text, *parsed.exit_code);
  try {
    run(parsed.options);
    return kDone;
  } catch (const BadOptions& error) {
    return report(mpi.rank(), error.what(), kBadOptions);
  } catch (const NotHere& error) {
    return report(mpi.rank(), error.what(), kNotHere);
  } catch (const TeamFailure& error) {
    return report(mpi.rank(), error.what(), kFailed);
  }
}
