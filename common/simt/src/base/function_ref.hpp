// A function that the caller keeps alive.
#pragma once

namespace simt {

/// Unlike std::function it has no functions that the program may have instantiated, too: kernels'
/// threads pass these, and the compiler's calls in such copies would count as steps of theirs.
template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  FunctionRef() = default;
  template <class F>
  FunctionRef(const F& f)
      : object_(&f), call_([](const void* object, Args... args) -> Result {
          return (*static_cast<const F*>(object))(static_cast<Args>(args)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Args... args) const { return call_(object_, static_cast<Args>(args)...); }

 private:
  const void* object_ = nullptr;
  Result (*call_)(const void*, Args...) = nullptr;
};

}  // namespace simt
