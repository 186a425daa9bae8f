// What the rewriter turns launches and `__shared__` variables into.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "simt/api.hpp"
#include "simt/element_type.hpp"
#include "simt/launch_types.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

namespace simt {

/// A launch as it is written: the kernel's name and the text between its parentheses.
struct LaunchText {
  const char* kernel;
  const char* arguments;
};

/// The parts of "a, b.data(), f(x, y)" between its top-level commas.
std::vector<std::string> split_arguments(const char* text);

template <class T>
void name_pointer(std::vector<PointerArgument>& pointers, const std::vector<std::string>& texts,
                  std::size_t index, const T& argument) {
  if constexpr (std::is_pointer_v<T>) {
    if constexpr (!std::is_function_v<std::remove_pointer_t<T>>) {
      pointers.push_back({const_cast<const void*>(static_cast<const volatile void*>(argument)),
                          index < texts.size() ? texts[index] : std::string(),
                          type_of<std::remove_pointer_t<T>>()});
    }
  }
}

/// The arguments of a launch. Not std::tuple, whose functions would be built with the kernel's
/// checks, and run for every thread.
template <class... Args>
struct Arguments {};
template <class First, class... Rest>
struct Arguments<First, Rest...> {
  First first;
  Arguments<Rest...> rest;
};

// Every thread goes through these, in a build without optimisation: as functions of their own they
// would take as long as a small kernel.
template <class Call, class... Unpacked>
SIMT_UNINSTRUMENTED __forceinline__ void apply(Call& call, Arguments<>&, Unpacked&... unpacked) {
  call(unpacked...);
}
template <class Call, class First, class... Rest, class... Unpacked>
SIMT_UNINSTRUMENTED __forceinline__ void apply(Call& call, Arguments<First, Rest...>& packed,
                                               Unpacked&... unpacked) {
  apply(call, packed.rest, unpacked..., packed.first);
}

inline Arguments<> pack() { return {}; }
template <class First, class... Rest>
Arguments<First, Rest...> pack(const First& first, const Rest&... rest) {
  return {first, pack(rest...)};
}

/// A kernel with its arguments, as the host left them.
template <class Call, class... Args>
struct Closure {
  Call call;
  Arguments<Args...> arguments;

  /// Runs in every thread. The thread works on copies of its own on its own stack; they are made
  /// bit by bit, as CUDA hands arguments to a GPU, and out of the checker's sight.
  SIMT_UNINSTRUMENTED static void run(const void* original) {
    alignas(Closure) unsigned char copy[sizeof(Closure)];
    __builtin_memcpy(copy, original, sizeof(Closure));
    auto& mine = *reinterpret_cast<Closure*>(copy);
    apply(mine.call, mine.arguments);
  }
  static void destroy(const void* closure) { delete static_cast<const Closure*>(closure); }
};

/// The owner of a closure. Not std::make_shared: it would be compiled anew for every launch in the
/// source, and took more time than all else of a launch.
std::shared_ptr<const void> own(const void* closure, void (*destroy)(const void* closure));

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...): `call` runs the kernel in one
/// thread. The arguments are copied now.
template <class Call>
auto launch(LaunchText text, Call call, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
            cudaStream_t stream = nullptr, dim3 cluster = {1, 1, 1}) {
  return [=]<class... Args>(Args... arguments) {
    const std::vector<std::string> texts = split_arguments(text.arguments);
    using Mine = Closure<Call, Args...>;
    Launch launch;
    launch.kernel = text.kernel;
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster;
    launch.shared_bytes = shared_bytes;
    [[maybe_unused]] std::size_t index = 0;
    (name_pointer(launch.pointers, texts, index++, arguments), ...);
    launch.body = Mine::run;
    launch.closure = own(new Mine{call, pack(arguments...)}, Mine::destroy);
    enqueue_launch(std::move(launch), stream);
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
  /// Makes the launch call `kernel` with copies of the values that `arguments` point to; `texts`
  /// are their names.
  void (*bind)(Launch& launch, const void* kernel, const std::vector<std::string>& texts,
               void* const* arguments);
  std::size_t parameter_count;
  ClusterDims cluster;  // of __cluster_dims__
};

/// The kernel at an address, null if there is none: what cudaLaunchKernel() is given.
const KernelInfo* find_kernel(const void* function);

template <class Function>
struct Binding;

template <class... Args>
struct Binding<void(Args...)> {
  void (*kernel)(Args...);

  SIMT_UNINSTRUMENTED void operator()(Args&... arguments) const { kernel(arguments...); }

  static Arguments<> read(Arguments<>*, void* const*) { return {}; }
  template <class First, class... Rest>
  static Arguments<First, Rest...> read(Arguments<First, Rest...>*, void* const* from) {
    return {*static_cast<const First*>(*from),
            read(static_cast<Arguments<Rest...>*>(nullptr), from + 1)};
  }
  static void name_pointers(Launch&, const std::vector<std::string>&, std::size_t, Arguments<>&) {}
  template <class First, class... Rest>
  static void name_pointers(Launch& launch, const std::vector<std::string>& texts,
                            std::size_t index, Arguments<First, Rest...>& arguments) {
    name_pointer(launch.pointers, texts, index, arguments.first);
    name_pointers(launch, texts, index + 1, arguments.rest);
  }

  static void bind(Launch& launch, const void* kernel, const std::vector<std::string>& texts,
                   void* const* arguments) {
    using Mine = Closure<Binding, Args...>;
    auto* const closure = new Mine{{reinterpret_cast<void (*)(Args...)>(const_cast<void*>(kernel))},
                                   read(static_cast<Arguments<Args...>*>(nullptr), arguments)};
    name_pointers(launch, texts, 0, closure->arguments);
    launch.body = Mine::run;
    launch.closure = own(closure, Mine::destroy);
  }
  static constexpr KernelInfo info(const char* name, const char* parameters,
                                   ClusterDims cluster = {}) {
    return {name, parameters, bind, sizeof...(Args), cluster};
  }
};

// An address in the kernel, and what is known of it, in a section of their own. A kernel cannot take
// its own address: a template does not know its arguments' names, and overloads share theirs. The
// section belongs to the function's own group, so the linker drops both or none.
#define SIMT_KERNEL(name, parameters, function, ...)                                      \
  static constexpr ::simt::KernelInfo simt_kernel_info =                                  \
      ::simt::Binding<function>::info(name, parameters, {__VA_ARGS__});                   \
  __asm__ volatile(                                                                       \
      "0:\n\t.pushsection simt_kernels,\"aw?\"\n\t.balign 8\n\t.quad 0b\n\t.quad %c0\n\t" \
      ".popsection" ::"i"(&simt_kernel_info))

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
