// The ladder's table and its JSON.
#include "ladder_report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <course/error.cuh>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <ostream>

namespace course {
namespace {

constexpr std::size_t kColumns = 100;
const std::string kNone = "-";

std::string version_text(int version) {  // 13000 means 13.0
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Up to 9 digits, and integers in full.
std::string value_text(std::optional<double> value) {
  if (!value) return kNone;
  if (std::isnan(*value)) return "NaN";
  if (*value == std::trunc(*value) && std::fabs(*value) < 1e12) {
    return fmt::format("{:.0f}", *value);
  }
  return fmt::format("{:.9g}", *value);
}

std::string error_text(const Row& row) {
  if (!row.result || !row.expected) return kNone;
  const double error = std::fabs(*row.result - *row.expected);
  return error == 0 ? "0" : fmt::format("{:.1e}", error);
}

std::string fixed_text(std::optional<double> value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : kNone;
}

/// "3.1x": how many times as fast as `other`; "1/1072" if it is much slower.
std::string ratio_text(const Row& row, const Row* other) {
  if (!row.microseconds || other == nullptr || !other->microseconds) return kNone;
  const double ratio = other->microseconds->median / row.microseconds->median;
  if (ratio < 0.1) return fmt::format("1/{:.0f}", 1 / ratio);
  return ratio < 100 ? fmt::format("{:.3g}x", ratio) : fmt::format("{:.0f}x", ratio);
}

/// Indented and broken between words, so that no line is longer than the table.
std::string paragraph(const std::string& text) {
  constexpr std::size_t kIndent = 4;
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    std::size_t end = newline;
    if (end - at > kColumns - kIndent) {
      end = text.rfind(' ', at + kColumns - kIndent);
      if (end == std::string::npos || end <= at) end = std::min(text.find(' ', at), newline);
    }
    lines += std::string(kIndent, ' ') + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

/// ": 1001, but 65536 is expected"; empty if the kernel left no value.
std::string wrong_value_text(const Row& row) {
  if (row.came_out_right) return fmt::format(": {}, right by luck", value_text(row.result));
  if (!row.result) return "";
  return fmt::format(": {}, but {} is expected", value_text(row.result), value_text(row.expected));
}

/// What is printed below a row and what changed in it.
std::string details(const Row& row) {
  if (row.failure) return *row.failure;
  if (row.kind == Row::Kind::wrong) {
    if (!row.findings.facts.empty()) return row.findings.facts.front() + "\n" + row.because;
    const bool race = row.expect != Expect::wrong_value;
    return (race ? "It has a data race, which a GPU does not report.\n" : "") + row.because;
  }
  std::string text;
  if (row.errors) {
    text =
        fmt::format("error: at most {:.1e}, on average {:.1e}", row.errors->max, row.errors->mean);
  } else if (!kCpuDevice && row.result != row.expected && error_text(row) != kNone) {
    text = "error: " + error_text(row);  // on the CPU device it has a column
  }
  if (const auto rate = operations_per_nanosecond(row)) {
    return text + fmt::format("{}{:.3g} operations per ns", text.empty() ? "" : "; ", *rate);
  }
  const Counters c = row.counters.value_or(Counters());
  if (c.shared_atomic_lanes == 0) return text;
  return text + fmt::format("{}on shared memory: {} atomics, {} addresses",
                            text.empty() ? "" : "; ", c.shared_atomic_lanes,
                            c.shared_atomic_addresses);
}

}  // namespace

std::optional<double> gigabytes_per_second(const Row& row) {
  if (!row.microseconds || row.bytes == 0) return std::nullopt;
  return static_cast<double>(row.bytes) / row.microseconds->median / 1e3;
}

std::optional<double> operations_per_nanosecond(const Row& row) {
  if (!row.microseconds || row.operations == 0) return std::nullopt;
  return static_cast<double>(row.operations) / row.microseconds->median / 1e3;
}

std::string replacement_text(int since, const std::string& compute_capability) {
  const std::size_t dot = compute_capability.find('.');
  if (since == 0 || dot == std::string::npos) return "";
  const int here =
      10 * std::stoi(compute_capability) + std::stoi(compute_capability.substr(dot + 1));
  if (here >= since) return "";
  return fmt::format(
      "needs sm_{}: this GPU, sm_{}, has no such instruction, and runs several older ones instead",
      since, here);
}

std::string expect_text(Expect expect) {
  switch (expect) {
    case Expect::race:
      return "race";
    case Expect::race_and_wrong_value:
      return "race_and_wrong_value";
    case Expect::wrong_value:
      return "wrong_value";
  }
  return "";
}

void describe_device(Environment& e) {
#ifdef __clang__
  e.compiler = "clang " __clang_version__;
#else
  e.compiler = "g++ " __VERSION__;
#endif
  e.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  if (kCpuDevice) {
    e.device = "CPU device";
    return;
  }
  int device = 0;
  cudaDeviceProp properties;
  int runtime = 0;
  int driver = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  e.device = properties.name;
  e.compute_capability = fmt::format("{}.{}", properties.major, properties.minor);
  e.cuda_version = version_text(runtime);
  e.driver_version = version_text(driver);
}

// ---- the table ---------------------------------------------------------------------------------

void Table::print_heading() {
  const Environment& e = environment_;
  const std::string size = fmt::format("n = {} {}", e.n, e.n_means);
  if (kCpuDevice) {
    out_ << fmt::format("{} on the CPU device: counts, no times; {}\n", e.chapter, size);
  } else {
    out_ << fmt::format("{} on {} (compute capability {}, CUDA {}, driver {}); {}\n", e.chapter,
                        e.device, e.compute_capability, e.cuda_version, e.driver_version, size);
  }
  if (!e.file.empty()) {
    out_ << fmt::format("file {}, {} bytes", e.file, e.file_size);
    if (e.file_bytes_used < e.file_size) {
      out_ << fmt::format(", of which the first {} are read", e.file_bytes_used);
    }
    out_ << "\n";
  }
  if (kCpuDevice) {
    out_
        << "atomics: one per thread; addresses: distinct addresses per warp, summed over warps; "
           "sectors:\n"
           "32-byte pieces of global memory that a warp's load or store touches; conflicts: passes "
           "that bank\nconflicts add to requests to shared memory; barriers: __syncthreads(), "
           "counted once per block\n\n"
        << fmt::format("{:<26}{:>12}{:>10}{:>10}{:>11}{:>9}{:>11}{:>10}\n", "rung", "result",
                       "error", "atomics", "addresses", "sectors", "conflicts", "barriers");
  } else {
    const std::string copy = e.copy_gbs ? fmt::format(", {:.0f} GB/s", *e.copy_gbs) : "";
    out_ << "GB/s: 10^9 bytes that the task must move, per second; % copy: of cudaMemcpy's" << copy
         << "\nbefore, vendor: speed relative to the rung above, and to the vendor's library\n\n"
         << fmt::format("{:<26}{:>12}{:>12}{:>10}{:>10}{:>8}{:>7}{:>8}{:>7}\n", "rung", "result",
                        "median us", "p10", "p90", "GB/s", "% copy", "before", "vendor");
  }
  out_ << std::string(kColumns - 1, '-') << "\n";
}

namespace {

/// The name in a column of its own width; a longer one gets a line of its own.
std::string name_text(const std::string& name) {
  constexpr std::size_t kWidth = 26;
  if (name.size() < kWidth) return fmt::format("{:<{}}", name, kWidth);
  return name + "\n" + std::string(kWidth, ' ');
}

/// What the CPU device counted.
std::string counts_text(const Row& row) {
  const bool counted = row.counters.has_value();
  const Counters c = row.counters.value_or(Counters());
  const bool accesses = c.global_loads + c.global_stores > 0;
  const auto count = [&](std::uint64_t n) { return counted ? std::to_string(n) : kNone; };
  return fmt::format("{:>10}{:>11}{:>9}{:>11}{:>10}", count(c.global_atomic_lanes),
                     count(c.global_atomic_addresses),
                     accesses ? fixed_text(c.sectors_per_request(), 1) : kNone,
                     count(c.bank_conflicts()), count(c.barriers));
}

/// What a GPU's clock says.
std::string times_text(const Row& row, const Row* before, const Row* vendor,
                       std::optional<double> copy_gbs) {
  const auto time = [&](double Quantiles::*quantile) {
    return row.microseconds ? fmt::format("{:.1f}", (*row.microseconds).*quantile) : kNone;
  };
  const std::optional<double> gbs = gigabytes_per_second(row);
  const std::string percent =
      gbs && copy_gbs ? fmt::format("{:.1f}", 100 * *gbs / *copy_gbs) : kNone;
  return fmt::format("{:>12}{:>10}{:>10}{:>8}{:>7}{:>8}{:>7}", time(&Quantiles::median),
                     time(&Quantiles::p10), time(&Quantiles::p90), fixed_text(gbs, 1), percent,
                     ratio_text(row, before), ratio_text(row, vendor));
}

}  // namespace

void Table::print(const Row& row, const Row* before, const Row* vendor) {
  const bool first = !std::exchange(headed_, true);
  const bool reference = row.kind == Row::Kind::reference;
  if (first) print_heading();
  if (reference && !first) out_ << "\n";
  const std::string value = value_text(reference ? row.expected : row.result);
  if (row.failure) {
    out_ << name_text(row.name) << "FAILED\n";
  } else if (row.kind == Row::Kind::wrong) {
    out_ << name_text(row.name) << "WRONG ON PURPOSE" << wrong_value_text(row) << "\n";
  } else if (kCpuDevice) {
    out_ << name_text(row.name)
         << fmt::format("{:>12}{:>10}", value, reference ? kNone : error_text(row))
         << counts_text(row) << "\n";
  } else {
    out_ << name_text(row.name) << fmt::format("{:>12}", value)
         << times_text(row, before, vendor, environment_.copy_gbs) << "\n";
  }
  std::string changed = row.changed;
  if (row.n != environment_.n) changed += fmt::format(" (n = {})", row.n);
  if (row.microseconds && row.l2 == L2::warm) changed += " (L2 warm)";
  out_ << paragraph(changed)
       << paragraph(replacement_text(row.since, environment_.compute_capability))
       << paragraph(details(row)) << std::flush;
}

// ---- JSON --------------------------------------------------------------------------------------

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json counters_json(const Counters& c) {
  ordered_json j;
  for (const simt::Counter& counter : simt::kCounters) {
    if (*counter.reported_as != '\0') j[counter.reported_as] = c.*counter.value;
    // What follows from several counters comes after the last of them.
    if (counter.value == &Counters::global_store_sectors) {
      j["sectors_per_request"] = c.sectors_per_request();
    }
    if (counter.value == &Counters::shared_store_wavefronts) {
      j["bank_conflicts"] = c.bank_conflicts();
    }
  }
  return j;
}

std::string kind_text(Row::Kind kind) {
  switch (kind) {
    case Row::Kind::reference:
      return "reference";
    case Row::Kind::rung:
      return "rung";
    case Row::Kind::wrong:
      return "wrong";
    case Row::Kind::vendor:
      return "vendor";
  }
  return "";
}

ordered_json row_json(const Environment& e, const Row& row) {
  ordered_json j = {{"name", row.name},
                    {"kind", kind_text(row.kind)},
                    {"group", row.group},
                    {"changed", row.changed},
                    {"n", row.n},
                    {"as_declared", !row.failure},
                    {"failure", or_null(row.failure)},
                    {"expected", or_null(row.expected)},
                    {"result", or_null(row.result)},
                    {"tolerance", row.tolerance}};
  j["error"] = row.expected && row.result ? ordered_json(std::fabs(*row.result - *row.expected))
                                          : ordered_json(nullptr);
  if (row.errors) {
    j["max_error"] = row.errors->max;
    j["mean_error"] = row.errors->mean;
  }
  if (row.kind == Row::Kind::wrong) {
    j["wrong"] = {{"expect", expect_text(row.expect)},
                  {"because", row.because},
                  {"came_out_right", row.came_out_right},
                  {"races_checked", row.findings.checked},
                  {"races", row.findings.races}};
  }
  if (!row.series.empty()) {
    j["series"] = row.series;
    j["x"] = row.x;
  }
  if (row.microseconds) {
    const Quantiles& q = *row.microseconds;
    j["microseconds"] = {
        {"p10", q.p10}, {"median", q.median}, {"p90", q.p90}, {"samples", q.samples}};
    const std::optional<double> gbs = gigabytes_per_second(row);
    j["l2"] = row.l2 == L2::cold ? "cold" : "warm";
    j["operations"] = row.operations;
    j["per_ns"] = or_null(operations_per_nanosecond(row));
    j["bytes"] = row.bytes;
    j["gb_per_s"] = or_null(gbs);
    j["percent_of_copy"] =
        gbs && e.copy_gbs ? ordered_json(100 * *gbs / *e.copy_gbs) : ordered_json(nullptr);
  }
  if (row.counters) {
    j["bytes"] = row.bytes;
    j["counters"] = counters_json(*row.counters);
  }
  return j;
}

}  // namespace

std::string to_json(const std::vector<Input>& inputs) {
  ordered_json groups = ordered_json::array();
  for (const Input& input : inputs) {
    const Row& row = input.reference;
    if (groups.empty() || groups.back()["group"] != row.group) {
      groups.push_back({{"group", row.group}, {"n", row.n}, {"expected", or_null(row.expected)}});
    }
    groups.back()["inputs"][input.name] = {
        {"file", input.file}, {"type", input.type}, {"shape", input.shape}};
  }
  return ordered_json({{"schema", 1}, {"groups", groups}}).dump(2) + "\n";
}

std::string to_json(const Environment& e, const std::vector<Row>& rows) {
  ordered_json j = {{"schema", "course.ladder"},
                    {"version", 1},
                    {"chapter", e.chapter},
                    {"device", e.device},
                    {"compute_capability", text_or_null(e.compute_capability)},
                    {"cuda", text_or_null(e.cuda_version)},
                    {"driver", text_or_null(e.driver_version)},
                    {"compiler", e.compiler},
                    {"date", e.date},
                    {"n", e.n},
                    {"n_means", e.n_means}};
  if (e.file.empty()) {
    j["file"] = nullptr;
  } else {
    j["file"] = {{"name", e.file}, {"bytes", e.file_size}, {"bytes_used", e.file_bytes_used}};
  }
  j["copy_gb_per_s"] = or_null(e.copy_gbs);
  j["rungs"] = ordered_json::array();
  for (const Row& row : rows) j["rungs"].push_back(row_json(e, row));
  return j.dump(2) + "\n";
}

}  // namespace course
