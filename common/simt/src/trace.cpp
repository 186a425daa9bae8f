#include "trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "simt/float16.hpp"

namespace simt {
namespace {

// ---- what is recorded ---------------------------------------------------------------------------

enum class Op : unsigned char {
  load,
  store,
  atomic,
  shuffle,
  vote,
  reduce,
  match,
  activemask,
  syncwarp,
  barrier,
  fence,
  leave
};
constexpr std::array<const char*, 12> kOpNames = {"load",     "store",   "atomic", "shuffle",
                                                  "vote",     "reduce",  "match",  "activemask",
                                                  "syncwarp", "barrier", "fence",  "return"};

/// A lane's value as bytes: it becomes text when the launch has ended. size 0: not known.
struct Value {
  ElementType type;
  std::uint8_t size = 0;
  std::array<unsigned char, 32> bytes{};
};
using Column = std::vector<Value>;  // a value per lane of an event, or nothing

struct Place {
  std::uint32_t array;
  std::int64_t offset;  // bytes from the array's first element
};

constexpr int kNoSource = -1;
constexpr std::size_t kMostCallers = 8;

struct Event {
  Op op;
  std::uint32_t block, warp, lanes;
  const char* name;
  std::vector<const void*> callers;  // return addresses, the innermost first
  std::uint32_t mask = 0;            // 0: none
  std::vector<Place> places;
  std::uint32_t bytes = 0, cost = 0;
  bool shared = false;
  Column values, old, given, expected;
  std::vector<int> sources;

  /// Where the values of a lane stand in the columns.
  unsigned slot(unsigned lane) const {
    return static_cast<unsigned>(__builtin_popcount(lanes & ((1u << lane) - 1)));
  }
};

/// Something in memory that an event touched. A __shared__ variable is one array, although every
/// block has its own.
struct Array {
  const void* key;
  const Allocation* memory;  // null for shared memory, which other blocks will use
  std::string name;
  ElementType element;
  std::size_t elements;
  unsigned offset;  // of the first element, from a multiple of 128 bytes on
};

/// The launch that runs, as far as it has come.
struct Recording {
  std::vector<Event> events;
  std::vector<Array> arrays;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> last_event;  // of block, warp
  unsigned blocks_ended = 0;
  bool active = false;         // until the launch ends
  bool full = false;           // there were more events than the settings allow
  bool owns_lockstep = false;  // no CountScope asks for it

  // The store that the running lane makes next. Its value is in memory afterwards.
  std::uint32_t store_event = kUntraced;
  unsigned store_slot = 0;
  std::uintptr_t store_address = 0;
  std::size_t store_size = 0;
  Value before_store;
};
// Nothing of a trace is ever destroyed: the destructor of a static object may still run launches.
Recording& recording = *new Recording;

// ---- the file -----------------------------------------------------------------------------------

/// Text as a JSON string.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string program_name() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  const std::string text(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.substr(text.rfind('/') + 1);
}

constexpr long kMostBytes = 64 << 20;  // of a file that has room

/// The file is complete JSON after every launch: the next one overwrites its last lines.
class TraceFile {
 public:
  bool is_open() const { return file_ != nullptr; }
  /// Behind the limits only launches with findings are added.
  bool has_room() const { return launches_ < settings_.launches && end_ < kMostBytes; }
  const TraceSettings& settings() const { return settings_; }
  void set_test(std::string name) { test_ = std::move(name); }
  const std::string& test() const { return test_; }

  void open(const TraceSettings& settings) {
    close();
    settings_ = settings;
    end_ = 0;
    launches_ = 0;
    left_out_ = 0;
    file_ = std::fopen(settings.file.c_str(), "w");
    if (file_ == nullptr) {
      fmt::print(stderr, "simt: cannot write the trace {}: {}\n", settings.file,
                 std::strerror(errno));
      std::exit(1);
    }
    append(
        fmt::format("{{\"schema\": 1, \"program\": {},\n\"launches\": [", quoted(program_name())));
  }
  void close() {
    if (file_ != nullptr) std::fclose(file_);
    file_ = nullptr;
  }
  void add_launch(const std::string& text) { append((launches_++ == 0 ? "\n" : ",\n") + text); }
  void leave_out_launch() {
    ++left_out_;
    append("");
  }

 private:
  void append(const std::string& text) {
    std::fseek(file_, end_, SEEK_SET);
    std::fwrite(text.data(), 1, text.size(), file_);
    end_ = std::ftell(file_);
    fmt::print(file_, "\n],\n\"launches_left_out\": {}}}\n", left_out_);
    std::fflush(file_);
  }

  TraceSettings settings_;
  std::FILE* file_ = nullptr;
  long end_ = 0;  // of the last launch
  unsigned launches_ = 0;
  std::uint64_t left_out_ = 0;
  std::string test_;
};

unsigned number_from(const char* variable, unsigned otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (end == text || *end != '\0' || value == 0 || value > 1'000'000'000) {
    fmt::print(stderr, "simt: {} must be a number from 1 on, and is '{}'\n", variable, text);
    std::exit(1);
  }
  return static_cast<unsigned>(value);
}

TraceFile& trace_file() {
  static TraceFile& file = *new TraceFile;
  return file;
}

/// Before main(), so that a program without a launch leaves no older trace behind.
[[maybe_unused]] const bool opened = [] {
  const char* const file = std::getenv("SIMT_TRACE");
  if (file == nullptr || *file == '\0') return false;
  TraceSettings settings;
  settings.file = file;
  if (const char* kernel = std::getenv("SIMT_TRACE_KERNEL")) settings.kernel = kernel;
  settings.blocks = number_from("SIMT_TRACE_BLOCKS", settings.blocks);
  settings.events = number_from("SIMT_TRACE_EVENTS", settings.events);
  settings.launches = number_from("SIMT_TRACE_LAUNCHES", settings.launches);
  trace_file().open(settings);
  return true;
}();

/// True for `ns::kernel<int>` if the filter is all of it, or without the arguments, or without ns.
bool matches(std::string kernel, const std::string& filter) {
  if (filter.empty() || kernel == filter) return true;
  kernel = kernel.substr(0, kernel.find('<'));
  if (kernel == filter) return true;
  const std::size_t scope = kernel.rfind("::");
  return scope != std::string::npos && kernel.substr(scope + 2) == filter;
}

// ---- making events
// --------------------------------------------------------------------------------

/// The return addresses on the stack of a waiting thread, from `caller` on: where the kernel's own
/// line is, if `caller` stands in a header of the course.
std::vector<const void*> callers_of(const Thread& t, const void* caller) {
  std::vector<const void*> list;
  char** frame = t.waiting_frame;
  for (; frame != nullptr && list.size() < kMostCallers; frame = calling_frame(*t.fiber, frame)) {
    if (!list.empty() || frame[1] == caller) list.push_back(frame[1]);
  }
  if (list.empty()) list.push_back(caller);
  return list;
}

/// A new event, or null if it is not to be recorded.
Event* add_event(Op op, const Block& block, unsigned warp, unsigned lanes, const char* name,
                 std::vector<const void*> callers) {
  Recording& r = recording;
  const TraceSettings& settings = trace_file().settings();
  if (block.linear >= settings.blocks) return nullptr;
  if (r.events.size() >= settings.events) r.full = true;
  if (r.full) return nullptr;
  r.last_event[{block.linear, warp}] = static_cast<std::uint32_t>(r.events.size());
  Event& e = r.events.emplace_back();
  e.op = op;
  e.block = block.linear;
  e.warp = warp;
  e.lanes = lanes;
  e.name = name;
  e.callers = std::move(callers);
  return &e;
}

std::uint32_t last_event() { return static_cast<std::uint32_t>(recording.events.size() - 1); }

/// Tells memory of the running block apart: its variables have another address in every block.
const void* key_of(const Block& block, const Allocation& memory) {
  static const char dynamic = 0;
  if (block.dynamic == &memory) return &dynamic;
  for (const SharedInstance& s : block.shared) {
    if (s.memory == &memory) return s.key;
  }
  return &memory;
}

std::uint32_t array_of(const Block& block, const Allocation& memory) {
  std::vector<Array>& arrays = recording.arrays;
  const void* key = key_of(block, memory);
  for (std::uint32_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].key == key) return i;
  }
  const bool shared = memory.space == Space::shared;
  const std::size_t bytes = memory.end() - memory.name_origin;
  arrays.push_back({key, shared ? nullptr : &memory, shared ? name_of(memory) : "", memory.element,
                    bytes / memory.element.size, static_cast<unsigned>(memory.name_origin % 128)});
  return static_cast<std::uint32_t>(arrays.size() - 1);
}

Value value_at(const void* bytes, std::size_t size, ElementType type) {
  Value value;
  if (bytes == nullptr || size > value.bytes.size()) return value;
  value.type = type;
  value.size = static_cast<std::uint8_t>(size);
  std::memcpy(value.bytes.data(), bytes, size);
  return value;
}

/// Sets the value of one lane; the others may follow, or never come.
void set(Column& column, const Event& e, unsigned slot, const Value& value) {
  if (column.empty()) column.resize(static_cast<std::size_t>(__builtin_popcount(e.lanes)));
  column[slot] = value;
}

/// The event that the lane's last instruction belongs to, if it is one of these.
Event* event_of(Thread& t, std::initializer_list<Op> ops) {
  const std::uint32_t index = std::exchange(t.traced, kUntraced);
  if (index == kUntraced) return nullptr;
  Event& e = recording.events[index];
  for (const Op op : ops) {
    if (e.op == op) return &e;
  }
  return nullptr;
}

Op op_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read:
      return Op::load;
    case AccessKind::write:
      return Op::store;
    case AccessKind::atomic:
      return Op::atomic;
    default:
      return Op::fence;
  }
}

Op op_of(WarpOp op) {
  switch (op) {
    case WarpOp::vote:
      return Op::vote;
    case WarpOp::match:
      return Op::match;
    case WarpOp::shuffle:
      return Op::shuffle;
    case WarpOp::reduce:
      return Op::reduce;
    default:
      return Op::syncwarp;
  }
}

// ---- values as text
// -------------------------------------------------------------------------------

/// "unsigned long long" for what compilers call "long long unsigned int"; empty if nothing is
/// known. Namespaces without a name are left out.
std::string type_name(ElementType type) {
  if (type.function == nullptr) return "";
  constexpr std::string_view before = "Element = ";
  const std::string_view text = type.function;
  std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return "";
  begin += before.size();
  std::string name(text.substr(begin, std::min(text.find(';', begin), text.rfind(']')) - begin));
  for (const std::string_view anonymous : {"{anonymous}::", "(anonymous namespace)::"}) {
    for (std::size_t at; (at = name.find(anonymous)) != std::string::npos;) {
      name.erase(at, anonymous.size());
    }
  }
  // Inside its own namespace gcc leaves the namespace out.
  constexpr std::string_view own = "simt::";
  if (name.starts_with(own)) name.erase(0, own.size());
  static const auto& shorter =
      *new std::map<std::string, std::string>{{"unsigned int", "unsigned"},
                                              {"short int", "short"},
                                              {"short unsigned int", "unsigned short"},
                                              {"long int", "long"},
                                              {"long unsigned int", "unsigned long"},
                                              {"long long int", "long long"},
                                              {"long long unsigned int", "unsigned long long"},
                                              {"__half", "half"},
                                              {"__half2", "half2"}};
  const auto it = shorter.find(name);
  return it == shorter.end() ? name : it->second;
}

template <class T>
T read(const unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
std::string number(const unsigned char* bytes) {
  return fmt::format("{}", read<T>(bytes));
}
template <class T>
std::string real(T value) {
  return value != value ? "nan" : fmt::format("{}", value);  // a NaN has no sign to speak of
}

/// A type whose values can be printed.
struct Scalar {
  std::size_t size;
  std::string (*print)(const unsigned char*);
};

std::string print_character(const unsigned char* bytes) {
  const auto c = static_cast<char>(*bytes);
  return c >= ' ' && c <= '~' ? fmt::format("'{}'", c) : fmt::format("{}", static_cast<int>(c));
}
std::string print_mask(const unsigned char* bytes) {
  return fmt::format("0x{:08x}", read<std::uint32_t>(bytes));
}
const std::map<std::string, Scalar>& scalars() {
  static const auto& map = *new std::map<std::string, Scalar>{
      {"bool", {1, number<std::uint8_t>}},
      {"char", {1, print_character}},
      {"signed char", {1, number<std::int8_t>}},
      {"unsigned char", {1, number<std::uint8_t>}},
      {"short", {2, number<std::int16_t>}},
      {"unsigned short", {2, number<std::uint16_t>}},
      {"int", {4, number<std::int32_t>}},
      {"unsigned", {4, number<std::uint32_t>}},
      {"long", {8, number<std::int64_t>}},
      {"unsigned long", {8, number<std::uint64_t>}},
      {"long long", {8, number<std::int64_t>}},
      {"unsigned long long", {8, number<std::uint64_t>}},
      {"float", {4, [](const unsigned char* b) { return real(read<float>(b)); }}},
      {"double", {8, [](const unsigned char* b) { return real(read<double>(b)); }}},
      {"half",
       {2, [](const unsigned char* b) { return real(to_float(Half{}, read<std::uint16_t>(b))); }}},
      {"__nv_bfloat16",
       {2,
        [](const unsigned char* b) { return real(to_float(Bfloat16{}, read<std::uint16_t>(b))); }}},
      {"LaneMask", {4, print_mask}}};
  return map;
}

/// The type of the numbers in a value of this type: float for float4 and float. Null: not known.
const Scalar* scalar_of(std::string name) {
  const auto look_up = [](const std::string& key) {
    const auto it = scalars().find(key);
    return it == scalars().end() ? nullptr : &it->second;
  };
  constexpr std::string_view pairs = "Pairs<";  // of reductions.hpp
  if (name.starts_with(pairs)) {
    name = name.substr(pairs.size(), name.find(',') - pairs.size());
    if (name == "__half2") name = "half2";
  }
  if (const Scalar* scalar = look_up(name)) return scalar;
  if (name.empty() || name.back() < '1' || name.back() > '4') return nullptr;
  name.pop_back();
  static const auto& bases = *new std::map<std::string, std::string>{
      {"uchar", "unsigned char"}, {"ushort", "unsigned short"}, {"uint", "unsigned"},
      {"ulong", "unsigned long"}, {"longlong", "long long"},    {"ulonglong", "unsigned long long"},
      {"char", "signed char"}};
  const auto it = bases.find(name);
  return look_up(it == bases.end() ? name : it->second);
}

/// "1.5", "(1, 2)" for a vector, both as JSON strings; null if the value or its type is not known.
std::string text_of(const Value& value) {
  if (value.size == 0) return "null";
  const Scalar* scalar = scalar_of(type_name(value.type));
  if (scalar == nullptr || value.size % scalar->size != 0) return "null";
  std::string text;
  for (std::size_t at = 0; at < value.size; at += scalar->size) {
    text += (at == 0 ? "" : ", ") + scalar->print(value.bytes.data() + at);
  }
  return quoted(value.size == scalar->size ? text : "(" + text + ")");
}

// ---- JSON
// -----------------------------------------------------------------------------------------

template <class List, class Print>
std::string joined(const List& list, Print print) {
  std::string text;
  for (const auto& item : list) {
    if (!text.empty()) text += ", ";
    text += print(item);
  }
  return "[" + text + "]";
}

std::string column_text(const char* key, const Column& column) {
  return column.empty() ? "" : fmt::format(", \"{}\": {}", key, joined(column, text_of));
}

/// "()" is for messages; here the name alone says enough.
std::string display_name(std::string name) {
  if (name.ends_with("()")) name.resize(name.size() - 2);
  return name;
}

std::string place_text(const Place& place) {
  const auto size = static_cast<std::int64_t>(recording.arrays[place.array].element.size);
  if (place.offset % size == 0) return fmt::format("[{}, {}]", place.array, place.offset / size);
  return fmt::format("[{}, {}]", place.array,
                     static_cast<double>(place.offset) / static_cast<double>(size));
}

std::string event_text(const Event& e) {
  const SourceLine where = source_line(e.callers);
  std::string text = fmt::format(
      "{{\"block\": {}, \"warp\": {}, \"op\": \"{}\", \"name\": {}, \"file\": {}, "
      "\"line\": {}, \"lanes\": \"0x{:08x}\"",
      e.block, e.warp, kOpNames[static_cast<std::size_t>(e.op)], quoted(display_name(e.name)),
      quoted(where.file), where.line, e.lanes);
  if (e.mask != 0) text += fmt::format(", \"mask\": \"0x{:08x}\"", e.mask);
  if (!e.places.empty()) {
    text += fmt::format(", \"places\": {}, \"bytes\": {}", joined(e.places, place_text), e.bytes);
  }
  text += column_text("given", e.given);
  if (!e.sources.empty()) {
    text += ", \"sources\": " + joined(e.sources, [](int source) {
              return source == kNoSource ? "null" : fmt::format("{}", source);
            });
  }
  text += column_text("expected", e.expected) + column_text("values", e.values) +
          column_text("old", e.old);
  if (!e.places.empty()) {
    const char* const cost = e.op == Op::atomic ? "addresses" : e.shared ? "wavefronts" : "sectors";
    text += fmt::format(", \"{}\": {}", cost, e.cost);
  }
  return text + "}";
}

std::string array_text(const Array& a) {
  const std::string type = type_name(a.element);
  return fmt::format(
      "{{\"name\": {}, \"space\": \"{}\", \"type\": {}, \"element_bytes\": {}, \"elements\": {}, "
      "\"offset\": {}}}",
      quoted(a.memory == nullptr ? a.name : name_of(*a.memory)),
      a.memory == nullptr ? "shared" : "global", type.empty() ? "null" : quoted(type),
      a.element.size, a.elements, a.offset);
}

std::string left_out_text(const Recording& r) {
  const TraceSettings& settings = trace_file().settings();
  std::string text;
  if (settings.blocks < engine.blocks_total) {
    text = fmt::format("blocks 0 to {} of {}", settings.blocks - 1, engine.blocks_total);
  }
  if (r.full)
    text += fmt::format("{}the first {} events", text.empty() ? "" : ", ", settings.events);
  return text;
}

std::string launch_text(const Launch& launch, const std::vector<Report>& findings) {
  const Recording& r = recording;
  const auto extent = [](dim3 d) { return fmt::format("[{}, {}, {}]", d.x, d.y, d.z); };
  std::string text = fmt::format(
      "{{\"kernel\": {}, \"grid\": {}, \"block\": {}, \"test\": {},\n\"lanes_recorded\": {}, "
      "\"complete\": {},\n\"findings\": {},\n\"arrays\": {},\n\"events\": [",
      quoted(launch.kernel), extent(launch.grid), extent(launch.block), quoted(trace_file().test()),
      quoted(left_out_text(r)), !r.full && !engine.failed,
      joined(findings, [](const Report& report) { return quoted(report.text); }),
      joined(r.arrays, array_text));
  std::vector<const void*> calls;
  for (const Event& e : r.events) calls.insert(calls.end(), e.callers.begin(), e.callers.end());
  look_up_lines(calls);
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + event_text(r.events[i]);
  }
  return text + "\n]}";
}

/// What stands at the place of a lane's load or store now.
Value value_of(const Event& e, unsigned slot, std::uintptr_t address, std::size_t size) {
  return value_at(reinterpret_cast<const void*>(address), size,
                  recording.arrays[e.places[slot].array].element);
}

/// For the copy of a struct compilers announce the store first and then the load, and only then
/// store. A load that follows a store which has changed nothing may mean that; no number is copied
/// so.
bool may_be_yet_to_come(const Recording& r, const Value& now) {
  const Scalar* scalar = scalar_of(type_name(now.type));
  if (scalar != nullptr && scalar->size == now.size) return false;
  return r.before_store.size == now.size && r.before_store.bytes == now.bytes;
}

}  // namespace

void trace_settle_store(bool before_load) {
  const OutOfSight guard;
  Recording& r = recording;
  if (r.store_event == kUntraced) return;
  Event& e = r.events[std::exchange(r.store_event, kUntraced)];
  const Value now = value_of(e, r.store_slot, r.store_address, r.store_size);
  const bool known = !before_load || !may_be_yet_to_come(r, now);
  set(e.values, e, r.store_slot, known ? now : Value{});
}

// ---- settings
// ---------------------------------------------------------------------------------------

void start_trace(const TraceSettings& settings) {
  drain_all_streams();
  trace_file().open(settings);
}

void stop_trace() {
  drain_all_streams();
  trace_file().close();
}

void name_test(const std::string& name) { trace_file().set_test(name); }

// ---- a launch
// -----------------------------------------------------------------------------------------

void trace_start_launch() {
  TraceFile& file = trace_file();
  engine.tracing = false;
  if (!file.is_open() || !matches(engine.launch->kernel, file.settings().kernel)) return;
  recording = {};
  recording.active = true;
  recording.owns_lockstep = !engine.lockstep;
  engine.tracing = true;
  engine.lockstep = true;
}

void trace_leave_lockstep_if_done() {
  Recording& r = recording;
  const unsigned blocks = std::min(trace_file().settings().blocks, engine.blocks_total);
  if (!r.full && r.blocks_ended < blocks) return;
  const OutOfSight guard;
  trace_settle_store();
  engine.tracing = false;
  if (!r.owns_lockstep) return;
  engine.lockstep = false;
  for (const auto& block : engine.resident) {
    for (Thread& t : block->threads) {
      if (t.state != State::parked) continue;
      ++block->warp_of(t).runnable;
      make_ready(t);
    }
  }
  note_progress();
}

void trace_end_launch(const Launch& launch, const std::vector<Report>& findings) {
  if (!recording.active) return;
  trace_settle_store();
  engine.tracing = false;
  if (recording.owns_lockstep) engine.lockstep = false;
  // Behind the limit, a launch with a finding is still worth having.
  TraceFile& file = trace_file();
  if (file.has_room() || !findings.empty()) {
    file.add_launch(launch_text(launch, findings));
  } else {
    file.leave_out_launch();
  }
  recording = {};
}

void trace_end_block(const Block& block) {
  trace_settle_store();
  if (block.linear < trace_file().settings().blocks) ++recording.blocks_ended;
}

// ---- what lanes do
// --------------------------------------------------------------------------------------

void trace_instruction(Thread* const* lanes, unsigned n, unsigned cost) {
  const OutOfSight guard;
  const Thread& leader = *lanes[0];
  const Parked& what = leader.parked;
  for (unsigned i = 0; i < n; ++i) lanes[i]->traced = kUntraced;
  if (what.kind == AccessKind::jump) return;
  const Block& block = *leader.block;
  const Op op = op_of(what.kind);
  unsigned mask = 0;
  for (unsigned i = 0; i < n; ++i) mask |= 1u << lanes[i]->lane;
  const char* name = what.name != nullptr ? what.name : kOpNames[static_cast<std::size_t>(op)];
  Event* e = add_event(op, block, leader.warp, mask, name, callers_of(leader, what.pc));
  if (e == nullptr) return;
  e->bytes = what.size;
  e->cost = cost;
  e->shared = what.shared;
  for (unsigned i = 0; i < n; ++i) {
    lanes[i]->traced = last_event();
    if (what.size == 0) continue;
    const std::uintptr_t address = lanes[i]->parked.address;
    const Allocation* memory = owner_of(address);
    if (memory == nullptr) memory = global_at(address);
    e->places.push_back(
        {array_of(block, *memory), static_cast<std::int64_t>(address - memory->name_origin)});
  }
}

void trace_access(Thread& t, std::uintptr_t address, std::size_t size, bool write) {
  const OutOfSight guard;
  trace_settle_store();
  const std::uint32_t index = t.traced;
  Event* e = event_of(t, {Op::load, Op::store});
  if (e == nullptr) return;
  const unsigned slot = e->slot(t.lane);
  const Value now = value_of(*e, slot, address, size);
  if (!write) {
    set(e->values, *e, slot, now);
    return;
  }
  recording.store_event = index;
  recording.store_slot = slot;
  recording.store_address = address;
  recording.store_size = size;
  recording.before_store = now;
}

void trace_atomic(Thread& t, const AtomicValues& values) {
  const OutOfSight guard;
  Event* e = event_of(t, {Op::atomic});
  if (e == nullptr) return;
  const unsigned slot = e->slot(t.lane);
  const auto add = [&](Column& column, const void* bytes) {
    if (bytes != nullptr) set(column, *e, slot, value_at(bytes, values.type.size, values.type));
  };
  add(e->values, values.operand);
  add(e->old, values.old);
  add(e->expected, values.expected);
}

void trace_warp_call(Block& block, unsigned warp, const Lanes& lanes, const WarpCall& call) {
  if (call.op == WarpOp::part) return;
  const OutOfSight guard;
  const Thread& leader = *block.lane(warp, static_cast<unsigned>(__builtin_ctz(lanes.present)));
  Event* e = add_event(op_of(call.op), block, warp, lanes.present, call.name,
                       callers_of(leader, call.caller));
  if (e != nullptr) e->mask = lanes.mask;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes.present >> l & 1u) == 0) continue;
    block.lane(warp, l)->traced = e == nullptr ? kUntraced : last_event();
  }
}

void trace_warp_values(TypedValue given, TypedValue received, int source) {
  if (!engine.tracing) return;
  const OutOfSight guard;
  Thread& t = *engine.current;
  Event* e = event_of(t, {Op::shuffle, Op::vote, Op::reduce, Op::match});
  if (e == nullptr) return;
  const unsigned slot = e->slot(t.lane);
  set(e->given, *e, slot, value_at(given.bytes, given.type.size, given.type));
  if (e->op == Op::shuffle) {
    e->sources.resize(static_cast<std::size_t>(__builtin_popcount(e->lanes)), kNoSource);
    e->sources[slot] = source < static_cast<int>(kWarpSize) ? source : kNoSource;
    if (e->sources[slot] == kNoSource || (e->lanes >> source & 1u) == 0) return;  // undefined
  }
  set(e->values, *e, slot, value_at(received.bytes, received.type.size, received.type));
}

void trace_active_mask(Block& block, unsigned warp, unsigned mask, const Thread& leader) {
  const OutOfSight guard;
  Event* e = add_event(Op::activemask, block, warp, mask, leader.barrier_name,
                       callers_of(leader, leader.caller));
  if (e == nullptr) return;
  const LaneMask result{mask};
  e->values.assign(static_cast<std::size_t>(__builtin_popcount(mask)),
                   value_at(&result, sizeof result, type_of<LaneMask>()));
}

void trace_barrier(Block& block) {
  const OutOfSight guard;
  for (unsigned w = 0; w < block.warps.size(); ++w) {
    const Thread& leader = *block.lane(w, 0);
    add_event(Op::barrier, block, w, block.warps[w].alive, leader.barrier_name,
              callers_of(leader, leader.caller));
  }
}

void trace_return(Thread& t) {
  const OutOfSight guard;
  Recording& r = recording;
  trace_settle_store();
  const Block& block = *t.block;
  const auto last = r.last_event.find({block.linear, t.warp});
  if (last != r.last_event.end()) {
    Event& e = r.events[last->second];
    if (e.op == Op::leave && e.callers.front() == t.parked.pc) {
      e.lanes |= 1u << t.lane;
      return;
    }
  }
  add_event(Op::leave, block, t.warp, 1u << t.lane, "return", {t.parked.pc});
}

}  // namespace simt
