#include "report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace {

using nlohmann::ordered_json;

std::string times(const course::Quantiles& us) {
  return fmt::format("{:10.1f} us   (p10 {:.1f}, p90 {:.1f})", us.median, us.p10, us.p90);
}

ordered_json times_json(const course::Quantiles& us) {
  return {{"median_us", us.median}, {"p10_us", us.p10}, {"p90_us", us.p90}};
}

/// "1 rank", "2 ranks".
std::string so_many(int count, const std::string& of) {
  return fmt::format("{} {}{}", count, of, count == 1 ? "" : "s");
}

}  // namespace

double bus_bandwidth(std::size_t bytes, int ranks, double microseconds) {
  return 2.0 * (ranks - 1) / ranks * static_cast<double>(bytes) / microseconds / 1e3;
}

std::string to_text(const Options& options, const Results& results) {
  std::string text = fmt::format(
      "{} on {}, {}, {}\n"
      "the sum of {} floats: {}, exact\n"
      "  shares and reduction {}\n"
      "  reduction alone      {}\n",
      so_many(results.ranks, "rank"), so_many(results.hosts, "host"), results.device,
      results.engine, options.n, results.sum, times(results.whole), times(results.reduction));
  if (!results.vector) return text;
  const double gbps = bus_bandwidth(options.vector_bytes, results.ranks, results.vector->median);
  text += fmt::format(
      "the all-reduce of {} bytes: exact\n"
      "  time                 {}\n"
      "  bus bandwidth        {:10.2f} GB/s",
      options.vector_bytes, times(*results.vector), gbps);
  if (options.link_gbps > 0) {
    text +=
        fmt::format(" ({:.1f} % of {} GB/s)", 100 * gbps / options.link_gbps, options.link_gbps);
  }
  return text + "\n";
}

std::string to_json(const Options& options, const Results& results) {
  ordered_json json = {{"schema", 1},
                       {"ranks", results.ranks},
                       {"hosts", results.hosts},
                       {"device", results.device},
                       {"engine", results.engine},
                       {"samples", options.samples},
                       {"n", options.n},
                       {"value", results.sum},
                       {"sum", times_json(results.whole)},
                       {"reduction", times_json(results.reduction)},
                       {"vector", nullptr}};
  if (results.vector) {
    const double gbps = bus_bandwidth(options.vector_bytes, results.ranks, results.vector->median);
    ordered_json vector = {{"bytes", options.vector_bytes}};
    vector.update(times_json(*results.vector));
    vector["bus_gbps"] = gbps;
    vector["link_gbps"] = nullptr;
    vector["percent_of_link"] = nullptr;
    if (options.link_gbps > 0) {
      vector["link_gbps"] = options.link_gbps;
      vector["percent_of_link"] = 100 * gbps / options.link_gbps;
    }
    json["vector"] = vector;
  }
  return json.dump(2) + "\n";
}
