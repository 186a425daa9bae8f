// The running launch's state, and the names of its blocks and threads.
#include "kernel/engine.hpp"

#include <fmt/format.h>

#include "base/early.hpp"
#include "memory/devices.hpp"

namespace simt {

SIMT_EARLY Engine engine;
IdBits id_bits;

#define SIMT_BUILT_IN __attribute__((section("simt_built_in")))
SIMT_BUILT_IN uint3 running_thread_index;
SIMT_BUILT_IN uint3 running_block_index;
SIMT_BUILT_IN dim3 running_block_dim;
SIMT_BUILT_IN dim3 running_grid_dim;
#undef SIMT_BUILT_IN

bool in_kernel() { return engine.current != nullptr; }
unsigned lane_id() { return engine.current->lane; }

uint3 unflatten(std::uint64_t rank, dim3 extent) {
  uint3 index{};
  index.x = static_cast<unsigned>(rank % extent.x);
  index.y = static_cast<unsigned>(rank / extent.x % extent.y);
  index.z = static_cast<unsigned>(rank / extent.x / extent.y);
  return index;
}

std::uint64_t blocks_to_run(dim3 grid) {
  const auto& [first, last] = engine.blocks_to_run;
  const std::uint64_t all = blocks_of(grid);
  return all <= first || all - first <= last ? all : first + last;
}

std::uint64_t number_in_grid(std::uint32_t n, dim3 grid) {
  return n < engine.blocks_to_run.first ? n : blocks_of(grid) - blocks_to_run(grid) + n;
}

IdBits id_bits_of(dim3 block) { return id_bits_of(block.x * block.y * block.z); }

std::string coordinates(std::uint64_t rank, dim3 extent) {
  const uint3 i = unflatten(rank, extent);
  if (extent.y == 1 && extent.z == 1) return fmt::format("{}", i.x);
  if (extent.z == 1) return fmt::format("({},{})", i.x, i.y);
  return fmt::format("({},{},{})", i.x, i.y, i.z);
}

namespace {
std::string name_of_block(std::uint32_t block, dim3 grid, int device) {
  const std::string where = several_devices() ? fmt::format("device {} ", device) : "";
  return fmt::format("{}block {}", where, coordinates(number_in_grid(block, grid), grid));
}
}  // namespace

std::string block_name(std::uint32_t block) {
  return name_of_block(block, engine.launch->grid, engine.placement->device);
}

Thread* resident_thread(std::uint32_t id) {
  for (const auto& block : engine.resident) {
    if (block->linear == block_of(id)) return &block->threads[rank_of(id)];
  }
  return nullptr;
}

std::string thread_name(std::uint32_t id, dim3 grid, dim3 block, int device) {
  const IdBits bits = id_bits_of(block);
  return fmt::format("{} thread {}", name_of_block(block_of(id, bits), grid, device),
                     coordinates(rank_of(id, bits), block));
}

std::string thread_name(std::uint32_t id) {
  return thread_name(id, engine.launch->grid, engine.launch->block, engine.placement->device);
}

std::string thread_name(const Thread& t) { return thread_name(t.id); }

}  // namespace simt
