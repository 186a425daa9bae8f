// Writes a trace as JSON.
#include "trace/file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/environment.hpp"
#include "memory/names.hpp"
#include "report/source_lines.hpp"

namespace simt {
namespace {

using Json = nlohmann::ordered_json;

constexpr long kMostBytes = 64 << 20;  // of a file that has room

std::string program_name() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  const std::string text(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return text.substr(text.rfind('/') + 1);
}

/// One line. What is not UTF-8, as in a value of type char, is replaced.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// "()" is for messages; here the name alone says enough.
std::string display_name(std::string name) {
  if (name.ends_with("()")) name.resize(name.size() - 2);
  return name;
}

std::string hexadecimal(std::uint32_t lanes) { return fmt::format("0x{:08x}", lanes); }

Json to_json(const dim3& d) { return {d.x, d.y, d.z}; }

Json to_json(const Column& column) {
  Json list = Json::array();
  for (const Value& value : column) {
    const std::optional<std::string> text = text_of(value);
    list.push_back(text ? Json(*text) : Json(nullptr));
  }
  return list;
}

Json to_json(const std::vector<Place>& places, const std::vector<Array>& arrays) {
  Json list = Json::array();
  for (const Place& place : places) {
    const auto size = static_cast<std::int64_t>(arrays[place.array].element.size);
    if (place.offset % size == 0) {
      list.push_back({place.array, place.offset / size});
    } else {
      list.push_back({place.array, static_cast<double>(place.offset) / static_cast<double>(size)});
    }
  }
  return list;
}

Json sources_to_json(const std::vector<int>& sources) {
  Json list = Json::array();
  for (const int source : sources)
    list.push_back(source == kNoSource ? Json(nullptr) : Json(source));
  return list;
}

Json to_json(const Array& a) {
  const std::string type = type_name(a.element);
  Json json = {{"name", a.memory == nullptr ? a.name : name_of(*a.memory)},
               {"space", a.memory == nullptr ? "shared" : "global"},
               {"type", type.empty() ? Json(nullptr) : Json(type)},
               {"element_bytes", a.element.size},
               {"elements", a.elements},
               {"offset", a.offset}};
  if (a.block != kEveryBlock) json["block"] = a.block;
  return json;
}

Json to_json(const Event& e, const std::vector<Array>& arrays) {
  const SourceLine where = source_line(e.callers);
  Json json = {{"block", e.block},
               {"warp", e.warp},
               {"op", name_of(e.op)},
               {"name", display_name(e.name)},
               {"file", where.file},
               {"line", where.line},
               {"lanes", hexadecimal(e.lanes)}};
  if (e.mask != 0) json["mask"] = hexadecimal(e.mask);
  if (!e.places.empty()) {
    json["places"] = to_json(e.places, arrays);
    json["bytes"] = e.bytes;
  }
  const auto add = [&](const char* key, const Column& column) {
    if (!column.empty()) json[key] = to_json(column);
  };
  add("given", e.given);
  if (!e.sources.empty()) json["sources"] = sources_to_json(e.sources);
  add("expected", e.expected);
  add("values", e.values);
  add("old", e.old);
  if (!e.places.empty()) {
    json[e.op == Op::atomic ? "addresses" : e.shared ? "wavefronts" : "sectors"] = e.cost;
  }
  return json;
}

Json to_json(const Report& report) {
  Json accesses = Json::array();
  for (const ReportedAccess& a : report.accesses) {
    accesses.push_back({{"kind", a.kind},
                        {"file", a.file},
                        {"line", a.line},
                        {"block", a.block},
                        {"thread", a.thread}});
  }
  return {{"text", report.text},
          {"kind", identifier(report.kind)},
          {"kernel", report.kernel},
          {"object", report.object},
          {"accesses", accesses}};
}

}  // namespace

bool TraceFile::has_room() const { return launches_ < settings_.launches && end_ < kMostBytes; }

void TraceFile::open(const TraceSettings& settings) {
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
  append(fmt::format("{{\"schema\":\"simt.trace\",\"version\":2,\"program\":{},\n\"launches\":[",
                     line_of(Json(program_name()))));
}

void TraceFile::close() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
}

void TraceFile::add_launch(const Launch& launch, const Recording& recording, bool is_complete,
                           const std::string& left_out, const std::vector<Report>& findings) {
  Json reports = Json::array();
  for (const Report& report : findings) reports.push_back(to_json(report));
  Json arrays = Json::array();
  for (const Array& array : recording.arrays) arrays.push_back(to_json(array));
  Json head = {{"kernel", launch.kernel},
               {"grid", to_json(launch.grid)},
               {"block", to_json(launch.block)},
               {"test", test_},
               {"lanes_recorded", left_out},
               {"complete", is_complete},
               {"findings", reports},
               {"arrays", arrays}};
  const dim3& cluster = launch.cluster;
  if (cluster.x * cluster.y * cluster.z > 1) head["cluster"] = to_json(cluster);
  std::vector<const void*> calls;
  for (const Event& e : recording.events) {
    calls.insert(calls.end(), e.callers.begin(), e.callers.end());
  }
  look_up_lines(calls);
  // An event is a line: launches are long, and are read by eye, too.
  std::string text = line_of(head);
  text.pop_back();
  text += ",\"events\":[";
  const char* separator = "\n";
  for (const Event& e : recording.events) {
    text += separator + line_of(to_json(e, recording.arrays));
    separator = ",\n";
  }
  append((launches_++ == 0 ? "\n" : ",\n") + text + "\n]}");
}

void TraceFile::leave_out_launch() {
  ++left_out_;
  append("");
}

/// Overwrites the last lines of the file, and writes them anew after the text.
void TraceFile::append(const std::string& text) {
  std::fseek(file_, end_, SEEK_SET);
  std::fwrite(text.data(), 1, text.size(), file_);
  end_ = std::ftell(file_);
  fmt::print(file_, "\n],\n\"launches_left_out\":{}}}\n", left_out_);
  std::fflush(file_);
}

TraceFile& trace_file() {
  static TraceFile& file = *new TraceFile;
  return file;
}

namespace {

/// Before main(), so that a program without a launch leaves no older trace.
[[maybe_unused]] const bool opened = [] {
  const TraceSettings& settings = environment().trace;
  if (!settings.file.empty()) trace_file().open(settings);
  return true;
}();

}  // namespace

}  // namespace simt
