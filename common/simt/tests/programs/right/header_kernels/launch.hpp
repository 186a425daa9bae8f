#pragma once

// Launches a kernel with at least n threads.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int n, Arguments... arguments) {
  const int threads = 32;
  kernel<<<(n + threads - 1) / threads, threads>>>(arguments...);
}
