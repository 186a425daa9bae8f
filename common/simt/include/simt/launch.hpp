// What the rewriter turns launches and `__shared__` variables into.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "simt/api.hpp"
#include "simt/element_type.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

namespace simt {

// A launch is data for the library: a launch in the source becomes one function that runs the kernel, and a table of
// constants. What is compiled for each launch is compiled without optimisation, in every check.

/// A launch as it is written: the kernel's name and the text between its parentheses.
struct LaunchText {
  const char* kernel;
  const char* arguments;
};
/// What is written between <<< and >>>, and the size of a cluster.
struct LaunchConfig {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  dim3 cluster{1, 1, 1};
};

/// One of the values in a closure.
struct ClosureValue {
  std::size_t offset, size;  // bytes
  bool is_pointer;           // to objects, which are elements:
  ElementType element;
};
/// A kernel and its arguments, side by side in memory.
struct ClosureType {
  std::size_t size, alignment;       // bytes
  void (*run)(const void* closure);  // calls the kernel, in one thread
  const ClosureValue* values;        // the kernel, then its arguments
  std::size_t argument_count;
};

template <class... Values>
struct ClosureLayout {
  ClosureValue values[sizeof...(Values)] = {};
  std::size_t size = 0, alignment = 1;

  constexpr ClosureLayout() {
    std::size_t index = 0;
    (add<Values>(index++), ...);
    size = aligned(size, alignment);
  }
  static constexpr std::size_t aligned(std::size_t at, std::size_t to) {
    return (at + to - 1) / to * to;
  }
  template <class T>
  constexpr void add(std::size_t index) {
    ClosureValue& value = values[index];
    value.offset = aligned(size, alignof(T));
    value.size = sizeof(T);
    if constexpr (std::is_pointer_v<T>) {
      using Pointed = std::remove_pointer_t<T>;
      if constexpr (!std::is_function_v<Pointed>) {
        value.is_pointer = true;
        value.element = type_of<Pointed>();
      }
    }
    size = value.offset + value.size;
    if (alignof(T) > alignment) alignment = alignof(T);
  }
};

template <class Call, class... Args>
struct Closure {
  static constexpr ClosureLayout<Call, Args...> kLayout{};

  /// Runs in every thread. The thread works on copies of its own on its own stack; they are made
  /// bit by bit, as CUDA hands arguments to a GPU, and out of the checker's sight. The copy makes
  /// objects of the array's bytes; launder() leads to them.
  SIMT_UNINSTRUMENTED static void run(const void* original) {
    alignas(kLayout.alignment) unsigned char copy[kLayout.size];
    __builtin_memcpy(copy, original, sizeof copy);
    call(copy, std::make_index_sequence<sizeof...(Args)>());
  }
  // Every thread goes through it, in a build without optimisation: as a function of its own it would
  // take as long as a small kernel.
  template <std::size_t... I>
  SIMT_UNINSTRUMENTED __forceinline__ static void call(unsigned char* copy,
                                                       std::index_sequence<I...>) {
    (*__builtin_launder(reinterpret_cast<Call*>(copy)))(
        *__builtin_launder(reinterpret_cast<Args*>(copy + kLayout.values[I + 1].offset))...);
  }

  static constexpr ClosureType kType{kLayout.size, kLayout.alignment, run, kLayout.values,
                                     sizeof...(Args)};
};

/// True for what a compiler passes by its address: a class whose copy or destructor is a function of
/// its own.
template <class T>
constexpr bool kPassedByAddress =
    std::is_copy_constructible_v<T> &&
    !(std::is_trivially_copy_constructible_v<T> && std::is_trivially_move_constructible_v<T> &&
      std::is_trivially_destructible_v<T>);

/// True if the argument can be what the kernel's parameter is.
template <class Parameter, class Arg>
constexpr bool kUsedInPlace = !kPassedByAddress<Parameter> || std::is_same_v<Parameter, Arg>;

/// Calls a kernel with the arguments as they are in memory. On a GPU no thread copies or destroys an
/// argument, either; the host has done both. What is passed by its address anyway looks like a
/// reference to the kernel: C++ leaves such a call undefined, and the Itanium ABI, which g++ and
/// clang++ follow, defines it. All other kernels are called as what they are.
template <class... Parameters, class... Args>
SIMT_UNINSTRUMENTED auto call_in_place(void (*kernel)(Parameters...), Args&... arguments)
    -> std::enable_if_t<(kUsedInPlace<Parameters, Args> && ...)> {
  if constexpr ((kPassedByAddress<Parameters> || ...)) {
    using Function =
        void (*)(std::conditional_t<kPassedByAddress<Parameters>, Parameters&, Parameters>...);
    reinterpret_cast<Function>(kernel)(arguments...);
  } else {
    kernel(arguments...);
  }
}

/// Calls the kernel of this name with simt_args: a template or an overload is found by the types of
/// the arguments if they are those of the parameters, any other kernel by its name alone.
#define SIMT_CALL(...)                                                                           \
  if constexpr (!(::simt::kPassedByAddress<std::remove_reference_t<decltype(simt_args)>> ||      \
                  ...)) {                                                                        \
    __VA_ARGS__(simt_args...);                                                                   \
  } else if constexpr (requires {                                                                \
                         static_cast<void (*)(std::remove_reference_t<decltype(simt_args)>...)>( \
                             __VA_ARGS__);                                                       \
                       }) {                                                                      \
    ::simt::call_in_place(                                                                       \
        static_cast<void (*)(std::remove_reference_t<decltype(simt_args)>...)>(__VA_ARGS__),     \
        simt_args...);                                                                           \
  } else if constexpr (requires { ::simt::call_in_place(__VA_ARGS__, simt_args...); }) {         \
    ::simt::call_in_place(__VA_ARGS__, simt_args...);                                            \
  } else {                                                                                       \
    __VA_ARGS__(simt_args...);                                                                   \
  }

/// Queues a launch: `values` point to the kernel and to its arguments, which are copied now, bit by
/// bit. A bad configuration becomes the last error, as with CUDA.
void enqueue_closure(const LaunchText& text, const LaunchConfig& shape, const ClosureType& type,
                     const void* const* values);

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...): `call` runs the kernel in one
/// thread.
template <class Call>
auto launch(LaunchText text, Call call, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
            cudaStream_t stream = nullptr, dim3 cluster = {1, 1, 1}) {
  return [=]<class... Args>(Args... arguments) {
    const void* const values[] = {__builtin_addressof(call),
                                  const_cast<const void*>(static_cast<const volatile void*>(
                                      __builtin_addressof(arguments)))...};
    enqueue_closure(text, {grid, block, shared_bytes, stream, cluster},
                    Closure<Call, Args...>::kType, values);
  };
}

// ---- a kernel by its address --------------------------------------------------------------------

/// What the host knows of a kernel of which it has no more than the address. The rewriter puts one
/// into every kernel; a template has one for each instantiation.
struct ClusterDims {
  unsigned x = 0, y = 1, z = 1;  // x == 0: none
};
struct KernelInfo {
  const char* name;
  const char* parameters;  // "a, b, n": what messages call the arguments
  const ClosureType* type;
  ClusterDims cluster;  // of __cluster_dims__
};

/// The kernel at an address, null if there is none: what cudaLaunchKernel() is given.
const KernelInfo* find_kernel(const void* function);

template <class Function>
struct Binding;

template <class... Args>
struct Binding<void(Args...)> {
  void (*kernel)(Args...);

  SIMT_UNINSTRUMENTED void operator()(Args&... arguments) const {
    call_in_place(kernel, arguments...);
  }

  static constexpr KernelInfo info(const char* name, const char* parameters,
                                   ClusterDims cluster = {}) {
    return {name, parameters, &Closure<Binding, Args...>::kType, cluster};
  }
};

/// Tells of host code that calls a kernel as a function, which the compiler refuses by name only.
void report_unlaunched(const char* kernel, const void* caller);

// An address in the kernel, and what is known of it, in a section of their own. A kernel cannot take
// its own address: a template does not know its arguments' names, and overloads share theirs. The
// section belongs to the function's own group, so the linker drops both or none.
#define SIMT_KERNEL(name, parameters, function, ...)                                      \
  static constexpr ::simt::KernelInfo simt_kernel_info =                                  \
      ::simt::Binding<function>::info(name, parameters, {__VA_ARGS__});                   \
  __asm__ volatile(                                                                       \
      "0:\n\t.pushsection simt_kernels,\"aw?\"\n\t.balign 8\n\t.quad 0b\n\t.quad %c0\n\t" \
      ".popsection" ::"i"(&simt_kernel_info));                                            \
  if (!::simt::in_kernel()) return ::simt::report_unlaunched(name, SIMT_CALLER)

// ---- variables of a block -----------------------------------------------------------------------

/// The running block's copy of a `__shared__` variable. Every variable passes a lambda of its own
/// as Tag, so that each instantiation of a kernel template has its own.
template <class Tag>
inline constexpr char shared_key = 0;

template <class T, class Tag>
SIMT_UNINSTRUMENTED T& shared(const char* name, Tag) {
  static_assert(alignof(T) <= 4096, "a __shared__ variable starts on a page");
  const SharedVariable variable{name,
                                sizeof(T),
                                type_of<T>(),
                                {std::extent_v<T, 0>, std::extent_v<T, 1>, std::extent_v<T, 2>}};
  return *static_cast<T*>(block_shared(&shared_key<Tag>, variable, SIMT_CALLER));
}

/// `extern __shared__ T name[];`
template <class T>
SIMT_UNINSTRUMENTED T* dynamic_shared_array(const char* name) {
  constexpr ElementType kElement = type_of<T>();
  return static_cast<T*>(dynamic_shared(name, kElement));
}

}  // namespace simt
