// What testing.hpp offers that stands on the queues: another machine, traces, a fresh start.
#include "simt/testing.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "api/errors.hpp"
#include "api/events.hpp"
#include "api/queues.hpp"
#include "devices.hpp"
#include "trace.hpp"

namespace simt {

void reset_device() {
  reset_queues();
  reset_devices();
  fences_forget();
  reset_errors();
  forget_records();
}

void set_devices(int count) {
  if (count < 1 || count > kMostDevices) {
    throw std::invalid_argument(
        fmt::format("simt::set_devices({}): 1 to {} devices are possible", count, kMostDevices));
  }
  for (int device = count; device < device_count(); ++device) {
    if (allocated_bytes(device) == 0) continue;
    throw std::logic_error(fmt::format("simt::set_devices({}): device {} still has {} bytes", count,
                                       device, allocated_bytes(device)));
  }
  drain_all_streams();
  reset_device();
  set_device_count(count);
}

void start_trace(const TraceSettings& settings) {
  drain_all_streams();
  open_trace(settings);
}

void stop_trace() {
  drain_all_streams();
  close_trace();
}

}  // namespace simt
