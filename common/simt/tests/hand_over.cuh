// A value that one thread hands over to another, for the tests of what orders the two.
#pragma once

#include "testing.hpp"

namespace simt_test {

/// Runs a kernel on fresh memory, with `more` after its first two arguments. One of its threads stores
/// 42 to data[0] and says so by `flags`; another one, which waits for that, copies it to data[1]. True
/// if the value arrives.
template <class Kernel, class... More>
bool value_arrives(Kernel kernel, unsigned blocks, unsigned threads = 64, More... more) {
  auto flags = Array<int>::zeros(4);
  auto data = Array<int>::zeros(2);
  kernel<<<blocks, threads>>>(flags.data(), data.data(), more...);
  return data.values()[1] == 42;
}

}  // namespace simt_test
