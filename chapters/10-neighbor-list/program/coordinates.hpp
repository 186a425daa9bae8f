// Reads x and y of atoms from a text file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Coordinates in the precision that the methods compute in, and the line that each is on.
template <class T>
struct Coordinates {
  std::vector<T> x, y;
  std::vector<std::size_t> lines;
};

/// The bytes of a file, or of whatever the name is of; "-" is standard input. BadInput if it cannot
/// be read.
std::string read_bytes(const std::string& name);

/// One atom a line: two numbers, separated and surrounded by blanks or tabs. Lines without anything
/// are skipped. A line ends with \n, \r\n or \r; the last one need not. A UTF-8 byte order mark at
/// the start is skipped. A number is what std::from_chars takes, with a + in front if it likes, and
/// is rounded to T once. BadInput, with path:line:column, both from 1, for all else: too few or
/// too many words, a word that is no finite number, a number too large for T, no atom at all.
template <class T>
Coordinates<T> parse_coordinates(std::string_view text, const std::string& path);
