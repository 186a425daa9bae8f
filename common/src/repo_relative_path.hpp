// How messages call a source file.
#pragma once

#include <string>

namespace course {

/// The path from the repository's folder on: absolute ones are long and say no more.
inline std::string repo_relative_path(const std::string& file) {
  for (const char* folder : {"/exercises/", "/solutions/", "/chapters/", "/common/"}) {
    const std::size_t at = file.rfind(folder);
    if (at != std::string::npos) return file.substr(at + 1);
  }
  return file;
}

/// Names of lines, "file:12" each, for one sentence: the file is said where it is another one than that of the line before.
class LineNames {
 public:
  std::string operator()(const std::string& line) {
    const std::string path = repo_relative_path(line);
    const std::size_t colon = path.rfind(':');
    const std::string file = path.substr(0, colon);
    const bool is_same = colon != std::string::npos && file == file_;
    file_ = file;
    return is_same ? path.substr(colon) : path;
  }

 private:
  std::string file_;
};

}  // namespace course
