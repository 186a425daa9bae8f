#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <course/device.cuh>
#include <course/ladder.cuh>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "engine.hpp"
#include "errors.hpp"

namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 40;
constexpr std::size_t kMostVectorBytes = 4 * std::size_t{0x7fffffff};  // MPI counts in int

const std::map<std::string, Fault> kFaults = {{"dies", Fault::dies},     {"stops", Fault::stops},
                                              {"exits", Fault::exits},   {"length", Fault::length},
                                              {"device", Fault::device}, {"throws", Fault::throws}};

constexpr const char* kAbout =
    "Sums an array that is spread over the GPUs of one machine or of several: one process per "
    "GPU.\n"
    "\n"
    "  mpirun -n 2 sum_mpi --n 2^30\n"
    "  mpirun --hostfile HOSTS --map-by ppr:4:node sum_mpi\n";

constexpr const char* kMore =
    R"(Engines: nccl   from device to device; the default where the program was built with NCCL
         mpi    through the host, by MPI; works on the CPU device, too

Times are those of the slowest rank, and medians. The bus bandwidth is that of nccl-tests: bytes / time,
times 2 (ranks - 1) / ranks, which is what each link carries.

Faults: dies    the rank is killed while the others wait for it in the all-reduce
        stops   it is stopped there, and neither answers nor ends
        exits   it ends there, and does not tell MPI
        throws  a CUDA call fails there
        device  the rank asks for a device that is not there
        length  its vector is one element too short; needs --vector
In each case all ranks end within 30 s, and the error names the rank.

Exit codes: 0  done
            1  something failed while running: a rank, a device, a link, memory
            2  the options have to be changed
            77 this build cannot do it: MPI or NCCL was missing)";

std::size_t positive_size(const std::string& option, const std::string& text, std::size_t most) {
  const auto size = course::parse_size(text);
  if (!size || *size < 1 || *size > most) {
    throw BadOptions(
        fmt::format("{} {}: a number from 1 to {} was expected, such as 1000000, 1e6 or 2^20",
                    option, text, most));
  }
  return *size;
}

void parse_fault(const std::string& text, Options& options) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto kind = kFaults.find(text.substr(0, colon));
  const auto rank = course::parse_size(text.substr(std::min(colon + 1, text.size())));
  if (kind == kFaults.end() || !rank || *rank > std::numeric_limits<int>::max()) {
    throw BadOptions(
        fmt::format("--fault {}: a kind and a rank were expected, such as stops:1", text));
  }
  options.fault = kind->second;
  options.faulty_rank = static_cast<int>(*rank);
}

/// What CLI11 has not looked at.
struct Texts {
  std::string n, vector, fault;
};

void finish(const Texts& texts, Options& options) {
  options.n = std::size_t{1} << (course::kCpuDevice ? 16 : 30);
  if (!texts.n.empty()) options.n = positive_size("--n", texts.n, kMostElements);
  if (!texts.vector.empty()) {
    options.vector_bytes = positive_size("--vector", texts.vector, kMostVectorBytes);
    if (options.vector_bytes % sizeof(float) != 0) {
      throw BadOptions(fmt::format("--vector {}: floats have 4 bytes each", texts.vector));
    }
  }
  if (!texts.fault.empty()) parse_fault(texts.fault, options);
  if (options.fault == Fault::length && options.vector_bytes == 0) {
    throw BadOptions("--fault length needs --vector");
  }
}

void add_options(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--n", texts.n, "Floats of the whole array: 1000000, 1e6 or 2^20")->type_name("N");
  app.add_option("--vector", texts.vector,
                 "Also sums a vector of so many bytes, of floats, over all ranks")
      ->type_name("BYTES");
  app.add_option("--engine", options.engine, "What sums over the ranks; see below")
      ->check(CLI::IsMember({"mpi", "nccl"}).description(""))
      ->type_name("ENGINE");
  app.add_option("--samples", options.samples, "Timed repetitions")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->capture_default_str();
  app.add_option("--timeout", options.timeout, "Seconds that ranks wait for one another")
      ->check(CLI::Range(0.1, 3600.0).description(""))
      ->capture_default_str();
  app.add_option("--link-gbps", options.link_gbps,
                 "What a GPU's links carry, in 10^9 bytes/s: to compare the bus bandwidth with")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->type_name("GBPS");
  app.add_option("--json", options.json, "Writes the results there, too")->type_name("FILE");
  app.add_option("--fault", texts.fault, "Makes a rank fail on purpose; see below")
      ->type_name("KIND:RANK");
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  parsed.options.engine = has_nccl() ? "nccl" : "mpi";
  Texts texts;
  CLI::App app(kAbout, "sum_mpi");
  app.get_formatter()->column_width(32);
  app.footer(kMore);
  add_options(app, parsed.options, texts);
  try {
    app.parse(argc, argv);
    finish(texts, parsed.options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      parsed.exit_code = kDone;
      parsed.text = app.help();
    } else {
      parsed.exit_code = kBadOptions;
      parsed.text = std::string(error.what()) + "; sum_mpi --help tells more";
    }
  } catch (const BadOptions& error) {
    parsed.exit_code = kBadOptions;
    parsed.text = error.what();
  }
  return parsed;
}
