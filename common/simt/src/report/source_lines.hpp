// Where a code address is in the source.
#pragma once

#include <string>
#include <vector>

namespace simt {

/// A file and a line, repository-relative.
struct SourceLine {
  std::string file;
  int line = 0;
  std::string function = {};
  std::string in_header =
      {};  // "file:line" in a header of a library that this line has called; often empty
  std::string text() const;       // "file:line"
  std::string full_text() const;  // "file:line, in file:line" with the header, if there is one
};
/// The line of a return address, skipping the headers of libraries.
SourceLine source_line(const void* return_address);
/// Finds all these lines at once, which is faster than one by one, for source_line to know.
void look_up_lines(const std::vector<const void*>& return_addresses);
/// Ends the process that is asked for them. Call it before an _exit(), which does not.
void end_source_lines();
/// The line of the first of several calls, the innermost first, that is in the program itself, and the header of a
/// library that it has called; the first one's, if none is.
SourceLine source_line(const std::vector<const void*>& return_addresses);

/// True for a line of a header of the course, the device or the C++ library: the reader of a report has nothing to look for there.
bool is_in_library(const SourceLine& line);

/// True for lines of the program and of libraries above the CPU device and the compiler's.
bool is_above_the_device(const SourceLine& line);

}  // namespace simt
