// Generators of XORWOW skip numbers: any count of steps is a product of matrices of bits, one for each power of 2.
#include <array>
#include <cstddef>
#include <cstdint>

#include "simt/runtime.hpp"

namespace simt {
namespace {

constexpr unsigned kWords = 5, kBits = 32 * kWords;
constexpr unsigned kSequence = 67;  // 2^67 steps are a sequence

using Bits = std::array<std::uint32_t, kWords>;
using Matrix = std::array<Bits, kBits>;  // what becomes of each single bit

Bits product(const Bits& bits, const Matrix& matrix) {
  Bits sum{};
  for (unsigned i = 0; i < kBits; ++i) {
    const std::uint32_t mask = 0u - (bits[i / 32] >> i % 32 & 1);
    for (unsigned word = 0; word < kWords; ++word) sum[word] ^= matrix[i][word] & mask;
  }
  return sum;
}

Bits step(const Bits& v) {
  const std::uint32_t t = v[0] ^ v[0] >> 2;
  return {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
}

/// 2^k steps. Each is computed from the one before it when it is needed first.
const Matrix& steps_of_power(unsigned k) {
  static std::array<Matrix, kSequence + 64> powers;
  static unsigned known = 0;
  for (; known <= k; ++known) {
    for (unsigned i = 0; i < kBits; ++i) {
      Bits bit{};
      bit[i / 32] = 1u << i % 32;
      powers[known][i] = known == 0 ? step(bit) : product(powers[known - 1][i], powers[known - 1]);
    }
  }
  return powers[k];
}

}  // namespace

void skip_xorwow(unsigned (&v)[5], unsigned long long steps, unsigned long long sequences) {
  Bits bits = std::to_array(v);
  for (unsigned k = 0; steps != 0; ++k, steps >>= 1) {
    if ((steps & 1) != 0) bits = product(bits, steps_of_power(k));
  }
  for (unsigned k = kSequence; sequences != 0; ++k, sequences >>= 1) {
    if ((sequences & 1) != 0) bits = product(bits, steps_of_power(k));
  }
  for (unsigned word = 0; word < kWords; ++word) v[word] = bits[word];
}

}  // namespace simt
