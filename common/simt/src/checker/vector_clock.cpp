// Vector clocks as trees: what two have in common they share.
#include "checker/vector_clock.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace simt {
namespace {

constexpr unsigned kBits = 5, kWidth = 1u << kBits;  // of a path at each level
constexpr unsigned kBlockHeight = 1;                 // a block is a node of leaves
constexpr unsigned kMostHeight = 8;                  // enough for the 32 bits of a block's number

/// The block's number, and ten bits for the rank of the thread.
using Path = std::uint64_t;
constexpr Path path_of_block(std::uint32_t block) { return Path{block} << 2 * kBits; }
Path path_of(std::uint32_t thread, IdBits bits) {
  return path_of_block(block_of(thread, bits)) | rank_of(thread, bits);
}

struct Counted {
  std::uint32_t uses = 1;
};
/// The clocks of 32 threads.
struct Leaf : Counted {
  std::array<std::uint32_t, kWidth> clock{};
};
struct Node : Counted {
  std::uint32_t whole = 0;  // at the height of a block: a clock of all its threads
  std::array<void*, kWidth> child{};
};

unsigned height_of_launch = kBlockHeight;

std::size_t index_at(unsigned height, Path path) { return path >> (kBits * height) & (kWidth - 1); }

void* one_more_use(void* tree) {
  if (tree != nullptr) ++static_cast<Counted*>(tree)->uses;
  return tree;
}

void one_use_less(void* tree, unsigned height) {
  if (tree == nullptr || --static_cast<Counted*>(tree)->uses > 0) return;
  if (height == 0) {
    delete static_cast<Leaf*>(tree);
    return;
  }
  Node* const node = static_cast<Node*>(tree);
  for (void* child : node->child) one_use_less(child, height - 1);
  delete node;
}

/// Makes `place` a tree of its own, which may be changed.
Leaf& own_leaf(void*& place) {
  if (place == nullptr) {
    place = new Leaf;
  } else if (static_cast<Leaf*>(place)->uses > 1) {
    Leaf* const copy = new Leaf(*static_cast<Leaf*>(place));
    copy->uses = 1;
    one_use_less(place, 0);
    place = copy;
  }
  return *static_cast<Leaf*>(place);
}
Node& own_node(void*& place, unsigned height) {
  if (place == nullptr) {
    place = new Node;
  } else if (static_cast<Node*>(place)->uses > 1) {
    Node* const copy = new Node(*static_cast<Node*>(place));
    copy->uses = 1;
    for (void* child : copy->child) one_more_use(child);
    one_use_less(place, height);
    place = copy;
  }
  return *static_cast<Node*>(place);
}

/// The node of a thread's block, to be changed.
void*& own_block(void*& root, unsigned height, Path path) {
  void** place = &root;
  for (; height > kBlockHeight; --height) {
    place = &own_node(*place, height).child[index_at(height, path)];
  }
  return *place;
}

void* find_block(void* root, unsigned height, Path path) {
  for (; root != nullptr && height > kBlockHeight; --height) {
    root = static_cast<const Node*>(root)->child[index_at(height, path)];
  }
  return root;
}

void* union_of(void* a, void* b, unsigned height);

void* union_of_leaves(Leaf* a, Leaf* b) {
  std::array<std::uint32_t, kWidth> clock;
  for (std::size_t i = 0; i < kWidth; ++i) clock[i] = std::max(a->clock[i], b->clock[i]);
  if (clock == b->clock) return one_more_use(b);
  if (clock == a->clock) return one_more_use(a);
  Leaf* const both = new Leaf;
  both->clock = clock;
  return both;
}

void* union_of_nodes(Node* a, Node* b, unsigned height) {
  std::array<void*, kWidth> united;  // where they differ; most of what two trees have is the same
  std::uint32_t differ = 0;
  bool is_a = a->whole >= b->whole, is_b = b->whole >= a->whole;
  for (std::size_t i = 0; i < kWidth; ++i) {
    if (a->child[i] == b->child[i]) continue;
    differ |= 1u << i;
    united[i] = union_of(a->child[i], b->child[i], height - 1);
    is_a = is_a && united[i] == a->child[i];
    is_b = is_b && united[i] == b->child[i];
  }
  if (is_a || is_b) {
    for (; differ != 0; differ &= differ - 1) {
      one_use_less(united[static_cast<std::size_t>(std::countr_zero(differ))], height - 1);
    }
    return one_more_use(is_b ? b : a);
  }
  Node* const both = new Node;
  for (std::size_t i = 0; i < kWidth; ++i) {
    both->child[i] = (differ >> i & 1u) != 0 ? united[i] : one_more_use(a->child[i]);
  }
  both->whole = std::max(a->whole, b->whole);
  return both;
}

/// A use of a tree that has the later clocks of both: one of them, wherever that will do. If they are
/// equal it is the second, so that equal trees become one.
void* union_of(void* a, void* b, unsigned height) {
  if (a == b || b == nullptr) return one_more_use(a);
  if (a == nullptr) return one_more_use(b);
  if (height == 0) return union_of_leaves(static_cast<Leaf*>(a), static_cast<Leaf*>(b));
  return union_of_nodes(static_cast<Node*>(a), static_cast<Node*>(b), height);
}

}  // namespace

void ClockTree::set_blocks(std::uint64_t blocks) {
  height_of_launch = kBlockHeight;
  for (std::uint64_t room = 1; room < blocks && height_of_launch < kMostHeight; room *= kWidth) {
    ++height_of_launch;
  }
}

ClockTree::ClockTree(const ClockTree& other)
    : root_(one_more_use(other.root_)), height_(other.height_) {}
ClockTree::~ClockTree() { one_use_less(root_, height_); }

bool ClockTree::is_after(std::uint32_t thread, std::uint32_t clock, IdBits bits) const {
  const Path path = path_of(thread, bits);
  const auto* const block = static_cast<const Node*>(find_block(root_, height_, path));
  if (block == nullptr) return false;
  if (clock < block->whole) return true;
  const auto* const leaf = static_cast<const Leaf*>(block->child[index_at(1, path)]);
  return leaf != nullptr && clock < leaf->clock[index_at(0, path)];
}

void ClockTree::raise(std::uint32_t thread, std::uint32_t clock) {
  if (empty()) height_ = height_of_launch;
  const Path path = path_of(thread, id_bits);
  Node& block = own_node(own_block(root_, height_, path), kBlockHeight);
  std::uint32_t& mine = own_leaf(block.child[index_at(1, path)]).clock[index_at(0, path)];
  mine = std::max(mine, clock);
}

void ClockTree::raise_block(std::uint32_t block, std::uint32_t clock) {
  if (empty()) height_ = height_of_launch;
  std::uint32_t& whole =
      own_node(own_block(root_, height_, path_of_block(block)), kBlockHeight).whole;
  whole = std::max(whole, clock);
}

void ClockTree::join(const ClockTree& other) {
  if (other.root_ == root_ || other.empty()) return;
  if (empty()) height_ = other.height_;
  void* const both = union_of(root_, other.root_, height_);
  one_use_less(root_, height_);
  root_ = both;
}

void VectorClock::join(const VectorClock& other) {
  own.join(other.own);
  for (const ForeignClocks& f : other.foreign) of_launch(f.launch).clocks.join(f.clocks);
}

const ForeignClocks* VectorClock::find(std::uint32_t launch) const {
  const auto it = std::find_if(foreign.begin(), foreign.end(),
                               [&](const ForeignClocks& f) { return f.launch == launch; });
  return it == foreign.end() ? nullptr : &*it;
}

ForeignClocks& VectorClock::of_launch(std::uint32_t launch) {
  const ForeignClocks* const found = find(launch);
  if (found != nullptr) return foreign[static_cast<std::size_t>(found - foreign.data())];
  return foreign.emplace_back(ForeignClocks{launch, {}});
}

}  // namespace simt
