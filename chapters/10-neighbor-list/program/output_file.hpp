// A file that appears complete, or not at all.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>

#include "errors.hpp"

inline bool is_standard_output(const std::string& path) {
  return path == "-" || path == "/dev/stdout";
}

/// The file that a path leads to, whether it exists or not. Empty for what cannot be replaced:
/// standard output, devices and pipes.
inline std::filesystem::path file_behind(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;  // what is wrong with a path is said when it is opened
  if (is_standard_output(path)) return {};
  if (!fs::exists(path, error)) return fs::absolute(path, error).lexically_normal();
  return fs::is_regular_file(path, error) ? fs::canonical(path, error) : fs::path();
}

/// Written as NAME.part, and renamed to NAME when it is complete: a run that fails, or is killed,
/// leaves the old file as it was. What cannot be replaced is written directly.
class OutputFile {
 public:
  /// BadInput if the file cannot be written.
  explicit OutputFile(const std::string& path) : path_(path), target_(file_behind(path)) {
    if (path.empty()) throw BadInput("a file to write to has an empty name");
    if (is_standard_output(path)) return;
    file_.open(is_direct() ? path : part(), std::ios::binary);
    if (!file_) {
      throw BadInput(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    }
  }
  ~OutputFile() {
    std::error_code error;
    if (!is_direct()) std::filesystem::remove(part(), error);  // still there after a failure only
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_direct() const { return target_.empty(); }
  std::ostream& stream() { return is_standard_output(path_) ? std::cout : file_; }

  /// Writes what is still in memory. Failure if something was not written, on a full disk say.
  void finish() {
    std::ostream& out = stream();
    out.flush();
    file_.close();
    if (!out) throw Failure(fmt::format("{}: writing failed: {}", path_, std::strerror(errno)));
  }
  /// Puts the finished file in its place.
  void commit() {
    if (!is_direct()) std::filesystem::rename(part(), target_);
  }

 private:
  std::string part() const { return target_.string() + ".part"; }

  std::string path_;
  std::filesystem::path target_;
  std::ofstream file_;
};
