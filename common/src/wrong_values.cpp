#include "wrong_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "wrong_elements.hpp"

namespace course::detail {
namespace {

using Number = long double;  // holds every value of the arrays' types

/// The two arrays, and what follows from comparing their numbers.
class Comparison {
 public:
  explicit Comparison(const Differences& d) : d_(d) {
    for (const std::size_t i : d.wrong) {
      const Number difference = found(i) - expected(i);
      if (!std::isfinite(difference)) {
        least_ = most_ = 0;
        return;
      }
      least_ = std::min(least_, difference);
      most_ = std::max(most_, difference);
    }
  }

  /// Where the found values belong.
  std::string places() const {
    if (d_.left_out) {
      return fmt::format("{} is missing at [{}]: all elements after it are one index too early.",
                         d_.expected, first());
    }
    if (d_.inserted) {
      return fmt::format(
          "{} at [{}] is one too many: all elements after it are one index too late.", d_.found,
          first());
    }
    if (d_.size > kMostSorted || d_.wrong.size() < 2) return "";
    const bool is_constant_difference = most_ - least_ <= d_.tolerance && least_ != 0;
    if (is_constant_difference || !one_value().empty() || are_constant(d_.expected_values)) {
      return "";
    }
    if (const std::string text = shifted(); !text.empty()) return text;
    if (const std::string text = reordered(); !text.empty()) return text;
    if (first_home_ == d_.size) return "";
    return fmt::format("{} is the value that belongs at [{}].", d_.found, first_home_);
  }

  /// What the found value is.
  std::string value() const {
    for (const std::string& text : {one_value(), own_index(), opposite_sign(), carried(),
                                    low_bits(), low_half(), rounded()}) {
      if (!text.empty()) return text;
    }
    return "";
  }
  std::string low_half() const {
    if (!d_.found_values.is_integer) return "";
    const Number high = std::ldexp(Number{1}, 32);
    const bool are_low_bits_right = d_.found_values.bytes == 8 && all_wrong([&](std::size_t i) {
                                      return std::fmod(found(i) - expected(i), high) == 0;
                                    });
    const bool are_all_zero = all_wrong([&](std::size_t i) { return found(i) == 0; });
    return are_low_bits_right && !are_all_zero ? "The low 32 bits are right, the high ones are not."
                                               : "";
  }
  /// Both numbers as bit patterns, where they are large, or differ in one bit.
  std::string bits() const {
    const Elements& type = d_.found_values;
    if (!type.is_integer || type.is_signed || type.bytes < 4) return "";
    const Number least = std::min(found(first()), expected(first()));
    constexpr Number kLeastWord = 65536, kLeastPattern = Number{1u << 31};
    if (least < kLeastWord) return "";
    const auto f = static_cast<std::uint64_t>(found(first()));
    const auto e = static_cast<std::uint64_t>(expected(first()));
    const bool is_one = std::has_single_bit(f ^ e);
    if (!is_one && least < kLeastPattern) return "";
    return fmt::format(
        "In hexadecimal: expected {:#x}, found {:#x}{}.", e, f,
        is_one ? fmt::format(", which differ in bit {}", std::countr_zero(f ^ e)) : "");
  }
  /// The name of a limit, or a negative number in an unsigned one.
  std::string name() const {
    const Number f = found(first());
    const Elements& type = d_.found_values;
    if (type.is_integer && !type.is_signed) {
      constexpr Number kMostBelowZero = 65536;
      const Number modulus = std::ldexp(Number{1}, static_cast<int>(8 * type.bytes));
      if (const std::string text = same_bytes(); !text.empty()) return text;
      if (type.bytes < 4 || modulus - f > kMostBelowZero) return "";
      const std::string below_zero = whole(f - modulus);
      return fmt::format(
          "{} is {} modulo 2^{}{}", d_.found, below_zero, 8 * type.bytes,
          modulus - f == 1
              ? ", and has all bits set: was it never written, or did a search find nothing?"
              : ".");
    }
    const std::pair<Number, const char*> floats[] = {{FLT_MAX, "FLT_MAX"}, {DBL_MAX, "DBL_MAX"}};
    for (const auto& [limit, limit_name] : floats) {
      if (!type.is_integer && std::fabs(f) == limit) {
        return fmt::format("{} is {}{}.", d_.found, f < 0 ? "-" : "", limit_name);
      }
    }
    const std::pair<std::int64_t, const char*> integers[] = {{INT32_MIN, "INT_MIN"},
                                                             {INT32_MAX, "INT_MAX"},
                                                             {INT64_MIN, "LLONG_MIN"},
                                                             {INT64_MAX, "LLONG_MAX"}};
    for (const auto& [limit, limit_name] : integers) {
      if (type.is_integer && f == static_cast<Number>(limit)) {
        return fmt::format("{} is {}.", d_.found, limit_name);
      }
    }
    return "";
  }

  /// What one of two counters lacks is in the other one: "[0] lacks 65536 and [1] has 2048 too many: 32 in [0] became 1 in [1]."
  std::string carried() const {
    if (!d_.found_values.is_integer || d_.wrong.size() != 2) return "";
    const std::size_t i = found(d_.wrong[0]) < expected(d_.wrong[0]) ? 0 : 1;
    const std::size_t low = d_.wrong[i], high = d_.wrong[1 - i];
    const Number lost = expected(low) - found(low), more = found(high) - expected(high);
    const Number each = lost / more;
    constexpr Number kMost = 0x1p32L;
    const bool is_power = lost > 0 && more > 0 && each >= 2 && each <= kMost &&
                          each == std::nearbyint(each) &&
                          std::has_single_bit(static_cast<std::uint64_t>(each));
    if (!is_power) return "";
    return fmt::format("[{}] lacks {} and [{}] has {} too many, as if {} in [{}] became 1 in [{}].",
                       low, whole(lost), high, whole(more), whole(each), low, high);
  }

  /// How far the found values are from the expected ones.
  std::string difference() const {
    if (const std::string text = multiple(); !text.empty()) return text;
    if (d_.wrong.size() == 1) return single_difference();
    if (!(least_ > 0) && !(most_ < 0)) return balance();
    const Number near = std::min(std::fabs(least_), std::fabs(most_));
    const Number far = std::max(std::fabs(least_), std::fabs(most_));
    constexpr Number kAnyNumber =
        0x1p31L;  // integers so far apart have nothing to do with each other
    if (d_.found_values.is_integer && far >= kAnyNumber && near < far) return "";
    return fmt::format("Each {}element is {} than expected, by {}.", wrong_word(),
                       most_ > 0 ? "larger" : "smaller",
                       far - near <= d_.tolerance
                           ? text_of(near)
                           : fmt::format("{} to {}", text_of(near), text_of(far)));
  }

 private:
  static constexpr std::size_t kMostSorted = std::size_t{1} << 22;

  std::size_t first() const { return d_.wrong.front(); }
  Number found(std::size_t i) const { return d_.found_values[i]; }
  Number expected(std::size_t i) const { return d_.expected_values[i]; }
  bool is_near(Number a, Number b) const { return a == b || std::fabs(a - b) <= d_.tolerance; }
  bool is_all() const { return d_.wrong.size() == d_.size; }
  const char* wrong_word() const { return is_all() ? "" : "wrong "; }
  template <class Test>
  bool all_wrong(Test test) const {
    return std::all_of(d_.wrong.begin(), d_.wrong.end(), test);
  }
  static bool are_constant(const Elements& values) {
    for (std::size_t i = 1; i < values.size; ++i) {
      if (values[i] != values[0]) return false;
    }
    return true;
  }

  static std::string whole(Number value) { return fmt::format("{:.0f}", value); }
  /// A number of the arrays' type, or a difference of two.
  std::string text_of(Number value) const {
    if (d_.found_values.is_integer) return whole(value);
    constexpr int kShown = 6;
    return fmt::format("{:.{}g}", static_cast<double>(value), kShown);
  }

  /// The first wrong element's expected value, without its tolerance.
  std::string expected_text() const { return d_.expected.substr(0, d_.expected.find(" +- ")); }

  /// "Each wrong element holds what belongs 32 elements later."
  std::string shifted() const {
    const std::size_t home = first_home_;
    if (home == d_.size || d_.wrong.size() < 3) return "";
    const auto distance = static_cast<std::ptrdiff_t>(home) - static_cast<std::ptrdiff_t>(first());
    std::size_t compared = 0;
    bool varies = false;
    for (const std::size_t i : d_.wrong) {
      const std::ptrdiff_t source = static_cast<std::ptrdiff_t>(i) + distance;
      if (source < 0 || source >= static_cast<std::ptrdiff_t>(d_.size)) continue;
      if (!is_near(found(i), expected(static_cast<std::size_t>(source)))) return "";
      varies = varies || found(i) != found(first());
      ++compared;
    }
    if (compared < 3 || !varies || 2 * compared < d_.wrong.size()) return "";
    return fmt::format("Each {}element{} holds what belongs {} {} {}.", wrong_word(),
                       compared == d_.wrong.size() ? "" : ", as far as there is one,",
                       std::abs(distance), std::abs(distance) == 1 ? "element" : "elements",
                       distance > 0 ? "later" : "earlier");
  }

  /// All numbers are there, in another order.
  std::string reordered() const {
    std::vector<Number> f(d_.size), e(d_.size);
    for (std::size_t i = 0; i < d_.size; ++i) {
      f[i] = found(i), e[i] = expected(i);
      if (std::isnan(f[i]) || std::isnan(e[i])) return "";
    }
    bool is_reversed = true;
    for (std::size_t i = 0; i < d_.size && is_reversed; ++i) {
      is_reversed = is_near(f[i], e[d_.size - 1 - i]);
    }
    if (is_reversed) return "The numbers are in the opposite order.";
    for (std::size_t width = 2; width <= d_.size / 2; ++width) {
      if (d_.size % width == 0 && is_transposed(width, f, e)) {
        return fmt::format(
            "Rows and columns are exchanged: [r * {} + c] holds what belongs at [c * {} + r].",
            width, d_.size / width);
      }
    }
    std::sort(f.begin(), f.end());
    std::sort(e.begin(), e.end());
    for (std::size_t i = 0; i < d_.size; ++i) {
      if (!is_near(f[i], e[i])) return "";
    }
    const std::string start = fmt::format("All {} numbers are there, in another order", d_.size);
    return first_home_ == d_.size
               ? start + "."
               : fmt::format("{}: [{}] holds what belongs at [{}].", start, first(), first_home_);
  }

  /// True if `f`, read as rows of `width` numbers, has the rows of `e` as its columns.
  bool is_transposed(std::size_t width, const std::vector<Number>& f,
                     const std::vector<Number>& e) const {
    const std::size_t rows = d_.size / width;
    for (std::size_t i = 0; i < d_.size; ++i) {
      if (!is_near(f[i], e[i % width * rows + i / width])) return false;
    }
    return true;
  }

  /// The only other place where the first wrong value is expected; the array's size if there is none, or
  /// more than one.
  std::size_t home_of_first() const {
    std::size_t home = d_.size;
    if (d_.size > kMostSorted) return home;
    for (std::size_t i = 0; i < d_.size; ++i) {
      if (!is_near(found(first()), expected(i))) continue;
      if (home < d_.size) return d_.size;
      home = i;
    }
    return home;
  }

  /// "4008636142 is 0xeeeeeeee: is that what was there before?"
  std::string same_bytes() const {
    const std::size_t bytes = d_.found_values.bytes;
    const auto f = static_cast<std::uint64_t>(found(first()));
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * bytes), lowest = all / 0xff;
    const std::uint64_t byte = f & 0xff;
    if (bytes < 4 || byte == 0 || byte == 0xff || f != byte * lowest) return "";
    return fmt::format("{} is {:#x}: is that what was there before?", d_.found, f);
  }

  std::string one_value() const {
    if (d_.wrong.size() < 3 && !(is_all() && d_.size > 1)) return "";  // two may be equal by chance
    const Number value = found(first());
    const bool is_one = all_wrong([&](std::size_t i) {
      return found(i) == value || (std::isnan(found(i)) && std::isnan(value));
    });
    return is_one ? fmt::format("Each {}element holds {}.", wrong_word(), d_.found) : "";
  }

  /// "Each wrong element holds its own index modulo 32."
  std::string own_index() const {
    if (d_.wrong.size() < 3) return "";
    const auto holds = [&](std::size_t divisor) {
      return all_wrong([&](std::size_t i) {
        return found(i) == static_cast<Number>(divisor == 0 ? i : i % divisor);
      });
    };
    if (holds(0)) return fmt::format("Each {}element holds its own index.", wrong_word());
    for (std::size_t divisor = 32; divisor <= 1024; divisor *= 2) {
      if (holds(divisor)) {
        return fmt::format("Each {}element holds its own index modulo {}.", wrong_word(), divisor);
      }
    }
    return "";
  }

  std::string opposite_sign() const {
    const bool is_opposite =
        all_wrong([&](std::size_t i) { return found(i) == -expected(i) && found(i) != 0; });
    if (!is_opposite) return "";
    return d_.size == 1 ? "The sign is the opposite one."
                        : fmt::format("Each {}element has the opposite sign.", wrong_word());
  }

  /// "4464 is 70000 modulo 2^16."
  std::string low_bits() const {
    if (!d_.found_values.is_integer) return "";
    for (const int bits : {32, 16, 8}) {
      if (bits >= static_cast<int>(8 * d_.found_values.bytes)) continue;
      const Number modulus = std::ldexp(Number{1}, bits);
      const auto is_cut = [&](Number f, Number e) {
        return std::fmod(f - e, modulus) == 0 && f >= -modulus / 2 && f < modulus;
      };
      const bool are_cut = all_wrong([&](std::size_t i) { return is_cut(found(i), expected(i)); });
      if (!are_cut) continue;
      if (bits == 8 && found(first()) == 0) return "";  // 256 things that did not happen are 0, too
      constexpr Number kMore =
          16;  // a number that is 0 modulo much more says nothing of these bits
      if (found(first()) == 0 && std::fmod(expected(first()), kMore * modulus) == 0) return "";
      if (found(first()) == 0 && expected(first()) < 0) return "";  // a maximum that began with 0
      return found(first()) < 0
                 ? fmt::format("{} is the low {} bits of {}, read as a signed number.", d_.found,
                               bits, d_.expected)
                 : fmt::format("{} is {} modulo 2^{}{}.", d_.found, d_.expected, bits,
                               bytes_lost(bits));
    }
    return "";
  }

  /// What is lost modulo 2^16 may be lost by many counters of a byte, too.
  std::string bytes_lost(int bits) const {
    constexpr Number kByte = 256;
    const Number lost = expected(first()) - found(first()), times = lost / (kByte * kByte);
    if (bits != 16 || !(lost > 0)) return "";
    return fmt::format(": it lacks {}, {}2^16 or {} times 2^8", whole(lost),
                       times == 1 ? "" : whole(times) + " times ", whole(lost / kByte));
  }

  /// "4999949824 is 4999950000 rounded to float."
  std::string rounded() const {
    struct Format {
      const char* name;
      int bits, least_exponent;
    };
    const Format formats[] = {{"float", 24, -126}, {"half", 11, -14}, {"bfloat16", 8, -126}};
    for (const Format& format : formats) {
      const auto is_rounded = [&](std::size_t i) {
        const Number e = expected(i);
        if (!std::isfinite(e) || e == 0) return false;
        const int exponent = std::max(std::ilogb(e), format.least_exponent);
        const Number unit = std::ldexp(Number{1}, exponent - (format.bits - 1));
        const bool is_coarse = std::fabs(found(i) - e) >= unit / 16;
        return is_coarse && found(i) == std::nearbyint(e / unit) * unit;
      };
      if (!all_wrong(is_rounded)) continue;
      return fmt::format("{} is {} rounded to {}.", d_.found, expected_text(), format.name);
    }
    return "";
  }

  /// Of one number, if it is not far from the expected one.
  std::string single_difference() const {
    const Number e = expected(first());
    const Number difference = std::fabs(found(first()) - e);
    constexpr Number kLeast = 100;  // the difference of smaller numbers is plain to see
    if (!(difference > 0) || e < kLeast || !(difference <= e / 2) || found(first()) < 0) return "";
    return fmt::format("{} is {} by {}.", d_.found, found(first()) > e ? "too large" : "too small",
                       text_of(difference));
  }

  /// Of integers that are too small here and too large there.
  std::string balance() const {
    if (!d_.found_values.is_integer || !(least_ < 0) || !(most_ > 0)) return "";
    Number sum = 0;
    for (const std::size_t i : d_.wrong) sum += found(i) - expected(i);
    if (sum != 0) return "";
    if (d_.wrong.size() == 2) {
      const std::size_t i = d_.wrong.front(), j = d_.wrong.back();
      const bool is_first_larger = found(i) > expected(i);
      return fmt::format("[{}] is too large by {}, and [{}] too small by as much.",
                         is_first_larger ? i : j, text_of(most_), is_first_larger ? j : i);
    }
    return "The sum of all elements is right.";
  }

  /// "Each wrong element is 32 times the expected one."
  std::string multiple() const {
    constexpr Number kLeastAlone = 5;  // below it a multiple of a single number says little
    if (d_.wrong.size() == 1 && std::fabs(expected(first())) < kLeastAlone) return "";
    const Number ratio = found(first()) / expected(first());
    const Number times = std::fabs(ratio) >= 1 ? ratio : 1 / ratio;
    if (!std::isfinite(times) || times != std::nearbyint(times) || times < 2) return "";
    const bool are_all = all_wrong([&](std::size_t i) {
      return ratio >= 1 ? found(i) == times * expected(i) : found(i) * times == expected(i);
    });
    if (!are_all) return "";
    const std::string part = ratio >= 1 ? whole(times) + " times" : "1/" + whole(times) + " of";
    return d_.wrong.size() == 1
               ? fmt::format("{} is {} {}.", d_.found, part, expected_text())
               : fmt::format("Each {}element is {} the expected one.", wrong_word(), part);
  }

  const Differences& d_;
  Number least_ = std::numeric_limits<Number>::infinity(), most_ = -least_;  // found - expected
  const std::size_t first_home_ = home_of_first();
};

}  // namespace

void find_facts(const Differences& d, WrongValues& values) {
  const Comparison comparison(d);
  const auto add = [&](const char* kind, std::string text) {
    if (!text.empty()) values.facts.push_back({kind, std::move(text)});
  };
  const bool tells_elements = d.left_out || d.inserted;
  if (!tells_elements) add("elements", which_elements(d));
  add("elements", line_of_wrong_elements(d));
  const std::string places = comparison.places(), value = comparison.value();
  const std::vector<std::size_t> unwritten = unwritten_elements(d);
  add("value", unwritten_text(d, unwritten));
  const std::vector<std::size_t> as_filled = elements_as_filled(d);
  add("value", as_filled_text(d, as_filled));
  // What such elements hold says nothing of the answer.
  if (unwritten.size() == d.wrong.size() || as_filled.size() == d.wrong.size()) return;
  add("value", atomics_of_wrong_element(d));
  add("places", places);
  if (places.empty()) add("value", value);
  if (places.empty() && value.empty()) add("difference", comparison.difference());
  const std::string name = comparison.name();
  add("value", name);
  const bool is_open = value.empty() || value == comparison.low_half();
  if (places.empty() && is_open && name.empty()) add("value", comparison.bits());
}

}  // namespace course::detail
