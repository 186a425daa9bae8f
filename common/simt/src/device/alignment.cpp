// What the compiler calls where code names an object at an address that its type does not allow (-fsanitize=alignment):
// `pair->x` of an int2 is an access of 4 bytes here, and a GPU's compiler may make one of 8 of it and `pair->y`. The
// interface is that of UndefinedBehaviorSanitizer, without whose runtime programs are linked.
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/address_sanitizer.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/messages.hpp"
#include "checker/rules.hpp"
#include "device/access.hpp"

#if SIMT_ADDRESS_SANITIZER
#include <dlfcn.h>
#endif

namespace {

/// As the compiler lays it out.
struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t info;
  char name[1];  // "'const int2'" and a 0
};
struct Place {
  const char* file;
  std::uint32_t line, column;
};
struct TypeMismatch {
  Place place;
  const TypeDescriptor& type;
  std::uint8_t log_alignment;
  std::uint8_t use;
};
/// What the code does with the object. What comes before a reference to it, loads and stores of a number, has hooks of its own.
constexpr std::uint8_t kUseOfReference = 2, kUseOfMember = 3;

/// The name between the quotes without the words before it: of "const struct int2" it is "int2".
std::string type_name(const TypeDescriptor& type) {
  std::string name = type.name;
  name = name.substr(1, name.find('\'', 1) - 1);
  for (const std::string word : {"const ", "volatile ", "struct ", "union ", "class "}) {
    if (name.starts_with(word)) name.erase(0, word.size());
  }
  return name;
}

bool is_checked_object(std::uintptr_t address) {
  return simt::in_kernel() && !simt::accesses_are_ignored && !simt::is_its_own(address) &&
         simt::owner_of(address) != nullptr;
}

}  // namespace

extern "C" {

void __ubsan_handle_type_mismatch_v1(const TypeMismatch* found, std::uintptr_t address) {
#if SIMT_ADDRESS_SANITIZER
  if (!is_checked_object(address)) {  // the library's own code: its sanitizer says so
    using Handler = void(const TypeMismatch*, std::uintptr_t);
    static auto* const next =
        reinterpret_cast<Handler*>(dlsym(RTLD_NEXT, "__ubsan_handle_type_mismatch_v1"));
    return next(found, address);
  }
#endif
  if (!is_checked_object(address) || found->use < kUseOfReference) return;
  const std::size_t alignment = std::size_t{1} << found->log_alignment;
  const std::string type = type_name(found->type);
  const char* const members = found->use == kUseOfMember
                                  ? ", though the member would be aligned: nvcc may load or store "
                                    "several of them at once"
                                  : "";
  simt::stop_misaligned_object(
      address, alignment, type,
      fmt::format("The type {} needs an address that is a multiple of {}{}", type, alignment,
                  members),
      SIMT_RETURN);
}
/// __builtin_assume_aligned().
void __ubsan_handle_alignment_assumption(const void*, std::uintptr_t address, std::size_t alignment,
                                         std::size_t) {
  if (!is_checked_object(address)) return;
  simt::stop_misaligned_object(address, alignment, "__builtin_assume_aligned()",
                               fmt::format("The code promises a multiple of {}", alignment),
                               SIMT_RETURN);
}

}  // extern "C"
