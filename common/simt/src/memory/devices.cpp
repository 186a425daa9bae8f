// Several devices: how many there are, which one is current, and who reaches whose memory.
#include "memory/devices.hpp"

#include <array>

#include "base/environment.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

struct Devices {
  int count = environment().devices;
  bool peers_allowed = environment().peer_access;
  bool host_atomics = environment().host_atomics;
  int current = 0;
  std::uint32_t used = 0;                           // a bit for each device
  std::array<std::uint32_t, kMostDevices> peers{};  // of each device: whose memory it reaches
};

Devices& devices() {
  static Devices& d = *new Devices;
  return d;
}

}  // namespace

int device_count() { return devices().count; }
bool is_device(int device) { return device >= 0 && device < devices().count; }
int current_device() { return devices().current; }

void note_use(int device) { devices().used |= bit(device); }
bool several_devices() {
  const std::uint32_t used = devices().used;
  return (used & (used - 1)) != 0;
}

std::uint32_t reachable_from(int device) {
  return bit(kEveryDevice) | bit(device) | devices().peers[static_cast<unsigned>(device)];
}

std::uint32_t memory_of_several() {
  std::uint32_t mask = bit(kEveryDevice);
  for (const std::uint32_t reached : devices().peers) mask |= reached;
  return mask;
}

void reset_devices() {
  Devices& d = devices();
  d.current = 0;
  d.used = 0;
  d.peers = {};
}

void set_current_device(int device) { devices().current = device; }
void set_device_count(int count) { devices().count = count; }

std::uint32_t peers_of(int device) { return devices().peers[static_cast<unsigned>(device)]; }
void set_peers(int device, std::uint32_t peers) {
  devices().peers[static_cast<unsigned>(device)] = peers;
}

void set_peer_access(bool allowed) {
  devices().peers_allowed = allowed;
  if (!allowed) devices().peers = {};
}
bool peer_access() { return devices().peers_allowed; }

void set_host_atomics(bool supported) { devices().host_atomics = supported; }
bool host_atomics() { return devices().host_atomics; }

}  // namespace simt
