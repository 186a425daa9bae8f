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

}  // namespace course
