// A file that is there complete, or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

/// The file that a chain of symbolic links ends at, there already or not.
std::string behind_links(std::string path);

/// Written beside `path` under another name, and renamed when it is complete: a run that fails, or
/// is interrupted, leaves the old file as it was. A device, a pipe, or what is open already, such
/// as "-" and /dev/stdout, is written directly. The constructor finds out whether that will be possible:
/// BadInput if not. Failure if writing fails later.
class OutputFile {
 public:
  static constexpr std::size_t kWorthAWrite = std::size_t{1}
                                              << 16;  // bytes that are collected first

  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  /// Sees to it that all of it is on the disk: what can still fail for want of room fails here.
  void finish();
  /// Puts the finished file in its place.
  void commit();
  /// True if it is a device, a pipe, or what the shell has opened, such as /dev/stdout.
  bool is_direct() const { return is_direct_; }

 private:
  [[noreturn]] void fail(int error) const;
  std::string path_, target_, temporary_;
  std::FILE* file_ = nullptr;
  int slot_ = -1;
  bool is_direct_ = false;
};
