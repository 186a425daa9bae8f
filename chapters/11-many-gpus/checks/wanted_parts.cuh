// For the check of system_counter: values, and how many of them lie on which device.
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/devices.cuh>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace wanted_parts {

constexpr int kKey = 3;
constexpr unsigned long long kBefore = 1000;  // what the counter holds before the call

/// 0 to 9 in no order: a tenth of them equal kKey, and another tenth does so in the lower or the upper
/// half of its bits only.
inline std::vector<int> make_values(std::size_t n, std::uint32_t seed) {
  constexpr int kNearly[] = {kKey + 256, kKey + (1 << 16), kKey - (1 << 30), ~kKey, -kKey};
  std::vector<int> values = course::position_values<int>(n, seed);
  for (int& value : values) {
    value = value % 10 == 7 ? kNearly[value / 10 % std::size(kNearly)] : value % 10;
  }
  return values;
}

inline unsigned long long matches(const std::vector<int>& values) {
  return static_cast<unsigned long long>(std::count(values.begin(), values.end(), kKey));
}

/// A part as the test wants it: so many values on that device.
struct Wanted {
  int device;
  std::size_t n;
};

inline std::string to_string(const std::vector<Wanted>& wanted) {
  std::string text;
  for (const Wanted& part : wanted) {
    text += (text.empty() ? "" : ", ") + std::to_string(part.n) +
            (part.n == 1 ? " value on device " : " values on device ") +
            std::to_string(part.device);
  }
  return text.empty() ? "no parts" : text;
}

/// Parts with their memory, and the right answer.
template <class DeviceValues>
class PartsOf {
 public:
  explicit PartsOf(const std::vector<Wanted>& wanted) {
    std::uint32_t seed = 1;
    for (const Wanted& part : wanted) {
      const course::OnDevice on(part.device);
      const std::vector<int> values = make_values(part.n, seed++);
      memory_.push_back(course::DeviceBuffer<int>::from(values));
      parts.push_back({part.device, memory_.back().data(), part.n});
      expected += matches(values);
    }
  }
  std::vector<DeviceValues> parts;
  unsigned long long expected = kBefore;

 private:
  std::vector<course::DeviceBuffer<int>> memory_;
};

}  // namespace wanted_parts
