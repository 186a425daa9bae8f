// What was found, for people and for programs.
#pragma once

#include <course/timing.cuh>
#include <cstddef>
#include <optional>
#include <string>

#include "options.hpp"

/// Times are in microseconds, of the slowest rank.
struct Results {
  int ranks = 0, hosts = 0;
  std::string device, engine;   // such as "NVIDIA H200", "NCCL 2.28.9"
  double sum = 0;               // checked: it is exact
  course::Quantiles whole;      // the shares' sums and the reduction
  course::Quantiles reduction;  // of one double, alone
  std::optional<course::Quantiles> vector;
};

/// 2 (ranks - 1) / ranks * bytes / time in 10^9 bytes per second, as nccl-tests has it: what a link
/// carries in each direction, if every rank has to send and receive as little as is possible.
double bus_bandwidth(std::size_t bytes, int ranks, double microseconds);

/// A few lines.
std::string to_text(const Options& options, const Results& results);
std::string to_json(const Options& options, const Results& results);
