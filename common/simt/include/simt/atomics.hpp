// CUDA's atomic functions: exactly its names, types and results.
//
// They are plain overloads, as in CUDA: `atomicAdd(&i, 1.5)` converts, and a type that CUDA does
// not have, such as atomicMax(float*, float), does not compile. Those for __half and __nv_bfloat16
// come with the types, in half.hpp and bfloat16.hpp.
//
// Every CUDA thread runs on one thread of the host. Between atomic_access() and atomic_done() no
// other one can run, so plain loads and stores are enough.
#pragma once

#include <cstring>
#include <type_traits>

#include "simt/platform.hpp"
//
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

namespace simt {

/// True if p points into shared memory.
bool is_shared(const void* p);

/// What atomicCAS and atomicExch take besides numbers.
template <class T>
concept Wide = sizeof(T) == 16 && alignof(T) >= 16 && std::is_trivially_copyable_v<T>;
/// Tells the checker that plain loads of 16 bytes may belong to a compare-and-swap loop; returns true.
bool expect_wide_compare_and_swap();
template <class T>
inline const bool kHasWideCompareAndSwap = expect_wide_compare_and_swap();

/// What the atomic functions store: apply(what was there, the argument).
namespace atomic_op {

/// Integers wrap, signed ones, too.
struct Add {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return T(U(old) + U(val));
    } else {
      return old + val;
    }
  }
};
struct Sub {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    using U = std::make_unsigned_t<T>;
    return T(U(old) - U(val));
  }
};
struct Exchange {
  static constexpr AtomicKind kind = AtomicKind::exchange;
  template <class T>
  SIMT_PURE static T apply(T, T val) {
    return val;
  }
};
struct Min {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    return val < old ? val : old;
  }
};
struct Max {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    return val > old ? val : old;
  }
};
/// Counts 0, 1, ..., val, 0, ...
struct Increment {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  SIMT_PURE static unsigned apply(unsigned old, unsigned val) { return old >= val ? 0 : old + 1; }
};
/// Counts val, val - 1, ..., 0, val, ...
struct Decrement {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  SIMT_PURE static unsigned apply(unsigned old, unsigned val) {
    return old == 0 || old > val ? val : old - 1;
  }
};
struct And {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    return old & val;
  }
};
struct Or {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    return old | val;
  }
};
struct Xor {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  template <class T>
  SIMT_PURE static T apply(T old, T val) {
    return old ^ val;
  }
};

/// A subnormal float becomes zero and keeps its sign. Built-ins, because a function of <cmath>
/// would be instrumented.
SIMT_PURE float flush(float x) {
  constexpr float smallest_normal = 0x1p-126f;
  return __builtin_fabsf(x) < smallest_normal ? __builtin_copysignf(0.0f, x) : x;
}
/// Float add of the L2 cache, which has no subnormal numbers. The add of shared memory has them.
struct AddFlushing {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  SIMT_PURE static float apply(float old, float val) { return flush(flush(old) + flush(val)); }
  SIMT_PURE static float2 apply(const float2& old, const float2& val) {
    return {apply(old.x, val.x), apply(old.y, val.y)};
  }
  SIMT_PURE static float4 apply(const float4& old, const float4& val) {
    return {apply(old.x, val.x), apply(old.y, val.y), apply(old.z, val.z), apply(old.w, val.w)};
  }
};

}  // namespace atomic_op

/// Replaces *address by operation(*address, val) and returns what was there.
template <class Operation, class T>
SIMT_PURE T atomic_update(T* address, T val, const AtomicCall& call) {
  atomic_access(address, sizeof(T), Operation::kind, call);
  const T old = *address;
  const T next = Operation::apply(old, val);
  *address = next;
  atomic_done(std::memcmp(&old, &next, sizeof(T)) != 0, {type_of<T>(), &old, &val});
  return old;
}

/// Replaces *address by val if it equals `compare`; returns what was there.
template <class T>
SIMT_PURE T atomic_compare_and_swap(T* address, T compare, T val, const AtomicCall& call) {
  atomic_access(address, sizeof(T), AtomicKind::compare_and_swap, call, &compare);
  const T old = *address;
  if (old == compare) *address = val;
  atomic_done(old == compare && val != old, {type_of<T>(), &old, &val, &compare});
  return old;
}

/// The same for 16 bytes of any type, which are compared bit by bit.
template <class T>
SIMT_PURE T atomic_compare_and_swap_wide(T* address, T compare, T val, const AtomicCall& call) {
  static_cast<void>(kHasWideCompareAndSwap<T>);
  atomic_access(address, sizeof(T), AtomicKind::compare_and_swap, call, &compare);
  const T old = *address;
  const bool equal = std::memcmp(&old, &compare, sizeof(T)) == 0;
  if (equal) *address = val;
  atomic_done(equal && std::memcmp(&old, &val, sizeof(T)) != 0,
              {type_of<T>(), &old, &val, &compare});
  return old;
}

SIMT_PURE float atomic_add_float(float* address, float val, const AtomicCall& call) {
  if (is_shared(address)) return atomic_update<atomic_op::Add>(address, val, call);
  return atomic_update<atomic_op::AddFlushing>(address, val, call);
}

/// float2 and float4: one request; each element is added atomically, the vector as a whole is not.
template <class V>
SIMT_PURE V atomic_add_vector(V* address, V val, const AtomicCall& call) {
  constexpr int invalid_address_space = 717;  // cudaErrorInvalidAddressSpace
  if (is_shared(address)) {
    trap("atomicAdd() of float2 or float4 works on global memory only, and this is shared memory",
         invalid_address_space, call.caller);
  }
  return atomic_update<atomic_op::AddFlushing>(address, val, call);
}

}  // namespace simt

// One atomic function, `T name(T* address, T val)`, done by a function of namespace simt.
#define SIMT_ATOMIC_OF_SCOPE(name, scope, T, function)                             \
  SIMT_API T name(T* address, T val) {                                             \
    return simt::function(address, val, {#name, simt::Scope::scope, SIMT_CALLER}); \
  }
// The same in CUDA's three scopes.
#define SIMT_ATOMIC_BY(name, T, function)                \
  SIMT_ATOMIC_OF_SCOPE(name, device, T, function)        \
  SIMT_ATOMIC_OF_SCOPE(name##_block, block, T, function) \
  SIMT_ATOMIC_OF_SCOPE(name##_system, system, T, function)
#define SIMT_ATOMIC(name, T, operation) \
  SIMT_ATOMIC_BY(name, T, atomic_update<simt::atomic_op::operation>)
#define SIMT_ATOMIC_OF_INTEGERS(name, operation) \
  SIMT_ATOMIC(name, int, operation)              \
  SIMT_ATOMIC(name, unsigned, operation)         \
  SIMT_ATOMIC(name, long long, operation)        \
  SIMT_ATOMIC(name, unsigned long long, operation)
#define SIMT_ATOMIC_CAS_OF_SCOPE(name, scope, T)                                    \
  SIMT_API T name(T* address, T compare, T val) {                                   \
    return simt::atomic_compare_and_swap(address, compare, val,                     \
                                         {#name, simt::Scope::scope, SIMT_CALLER}); \
  }
#define SIMT_ATOMIC_CAS(T)                            \
  SIMT_ATOMIC_CAS_OF_SCOPE(atomicCAS, device, T)      \
  SIMT_ATOMIC_CAS_OF_SCOPE(atomicCAS_block, block, T) \
  SIMT_ATOMIC_CAS_OF_SCOPE(atomicCAS_system, system, T)

SIMT_ATOMIC(atomicAdd, int, Add)
SIMT_ATOMIC(atomicAdd, unsigned, Add)
SIMT_ATOMIC(atomicAdd, unsigned long long, Add)
SIMT_ATOMIC_BY(atomicAdd, float, atomic_add_float)
SIMT_ATOMIC(atomicAdd, double, Add)
SIMT_ATOMIC_BY(atomicAdd, float2, atomic_add_vector)
SIMT_ATOMIC_BY(atomicAdd, float4, atomic_add_vector)

SIMT_ATOMIC(atomicSub, int, Sub)
SIMT_ATOMIC(atomicSub, unsigned, Sub)

SIMT_ATOMIC(atomicExch, int, Exchange)
SIMT_ATOMIC(atomicExch, unsigned, Exchange)
SIMT_ATOMIC(atomicExch, unsigned long long, Exchange)
SIMT_ATOMIC(atomicExch, float, Exchange)

SIMT_ATOMIC(atomicInc, unsigned, Increment)
SIMT_ATOMIC(atomicDec, unsigned, Decrement)

SIMT_ATOMIC_OF_INTEGERS(atomicMin, Min)
SIMT_ATOMIC_OF_INTEGERS(atomicMax, Max)
SIMT_ATOMIC_OF_INTEGERS(atomicAnd, And)
SIMT_ATOMIC_OF_INTEGERS(atomicOr, Or)
SIMT_ATOMIC_OF_INTEGERS(atomicXor, Xor)

SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned long long)
SIMT_ATOMIC_CAS_OF_SCOPE(atomicCAS, device, unsigned short)

// sm_90: 16 bytes of any type.
#define SIMT_ATOMIC_WIDE(suffix, scope)                                                 \
  template <simt::Wide T>                                                               \
  SIMT_API_TEMPLATE T atomicCAS##suffix(T* address, T compare, T val) {                 \
    return simt::atomic_compare_and_swap_wide(                                          \
        address, compare, val, {"atomicCAS" #suffix, simt::Scope::scope, SIMT_CALLER}); \
  }                                                                                     \
  template <simt::Wide T>                                                               \
  SIMT_API_TEMPLATE T atomicExch##suffix(T* address, T val) {                           \
    return simt::atomic_update<simt::atomic_op::Exchange>(                              \
        address, val, {"atomicExch" #suffix, simt::Scope::scope, SIMT_CALLER});         \
  }
SIMT_ATOMIC_WIDE(, device)
SIMT_ATOMIC_WIDE(_block, block)
SIMT_ATOMIC_WIDE(_system, system)
#undef SIMT_ATOMIC_WIDE

#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_CAS_OF_SCOPE
#undef SIMT_ATOMIC_OF_INTEGERS
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_BY
#undef SIMT_ATOMIC_OF_SCOPE
