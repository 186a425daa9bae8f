// What the user asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

/// What one rank does wrong on purpose, to see what becomes of the others.
enum class Fault { none, dies, stops, exits, length, device, throws };

struct Options {
  std::size_t n = 0;             // floats of the whole array
  std::size_t vector_bytes = 0;  // of every rank's vector; 0: no such all-reduce
  std::string engine;            // mpi or nccl
  int samples = 20;
  double timeout = 10;   // seconds
  double link_gbps = 0;  // 10^9 bytes per second; 0: not given
  std::string json;      // a file; empty: none
  Fault fault = Fault::none;
  int faulty_rank = 0;

  bool fails(Fault kind, int rank) const { return fault == kind && faulty_rank == rank; }
};

/// Options, or what to print before the end.
struct Parsed {
  Options options;
  std::optional<int> exit_code;
  std::string text;  // of --help, or the error
};

/// Never throws for what the user wrote: all ranks read the same, and only one shall print it.
Parsed parse_options(int argc, char** argv);
