// The file of a trace: JSON, complete after every launch.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "simt/launch_types.hpp"
#include "simt/testing.hpp"
#include "trace/recording.hpp"

namespace simt {

class TraceFile {
 public:
  bool is_open() const { return file_ != nullptr; }
  /// Past the limits only launches with findings are added.
  bool has_room() const;
  const TraceSettings& settings() const { return settings_; }
  /// The test case of the launches that follow.
  void set_test(std::string name) { test_ = std::move(name); }

  /// Ends the program if the file cannot be written.
  void open(const TraceSettings& settings);
  void close();
  /// `left_out`: what of the launch is not in the recording, in words.
  void add_launch(const Launch& launch, const Recording& recording, bool is_complete,
                  const std::string& left_out, const std::vector<Report>& findings);
  void leave_out_launch();

 private:
  void append(const std::string& text);

  TraceSettings settings_;
  std::FILE* file_ = nullptr;
  long end_ = 0;  // of the last launch
  unsigned launches_ = 0;
  std::uint64_t left_out_ = 0;
  std::string test_;
};

/// The one of this program.
TraceFile& trace_file();

}  // namespace simt
