// Input for the histograms: bytes as uneven as those of a text, from a fixed seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// n bytes: about one in six is a space, one in ten an 'e', one in a thousand a 'z', as in English;
/// some capitals, digits and punctuation among them. The same bytes everywhere.
inline std::vector<unsigned char> text_like_bytes(std::size_t n, std::uint32_t seed = 1) {
  struct Share {
    const char* letters;
    int each;  // of 1062
  };
  const Share shares[] = {
      {" ", 180},  {"e", 103},  {"t", 75},          {"ao", 65},           {"in", 57},
      {"shr", 50}, {"dl", 34},  {"cum", 22},        {"wfgypb", 16},       {"vk", 7},
      {".,\n", 9}, {"jxqz", 1}, {"TAISHWBMCPN", 2}, {"0123456789'\"-", 1}};
  std::string lots;  // a byte for every lot that it has
  for (const Share& share : shares) {
    for (const char* letter = share.letters; *letter != '\0'; ++letter) {
      lots.append(static_cast<std::size_t>(share.each), *letter);
    }
  }
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(n);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(lots[random() % lots.size()]);
  return bytes;
}
