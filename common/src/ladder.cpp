// The ladder: options, checks before times, and rungs that are wrong on purpose.
#include <fmt/format.h>
#include <course/error.cuh>
#include <course/ladder.cuh>
#include <course/timing.cuh>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "gpu_turn.hpp"
#include "ladder_report.hpp"

namespace course {
namespace {

constexpr int kOk = 0, kFailed = 1, kBadOptions = 2, kNoDevice = 77;

/// The schedules of rungs that are wrong on purpose: shuffled ones, so that lost updates show. Under one of them
/// it may happen that none is lost.
constexpr std::uint64_t kFirstWrongSeed = 1, kLastWrongSeed = 8;

/// Arrays are written to files in pieces of this many bytes.
constexpr std::size_t kInputPiece = std::size_t(64) << 20;

/// The options are wrong; what() says why.
struct BadOptions : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No further rung can run; the row of the last one says why.
struct DeviceLost : std::runtime_error {
  DeviceLost() : std::runtime_error("the GPU cannot be used after this error") {}
};

}  // namespace

struct Ladder::State {
  LadderOptions options;
  std::vector<std::string> arguments;
  std::ostream& out;
  std::ostream& err;

  // What the arguments say.
  bool help = false;
  bool list = false;
  bool n_given = false;
  std::vector<std::string> only;
  std::string json_path;
  std::string file_path;
  std::string inputs_path;

  Environment environment;
  std::vector<unsigned char> file;
  std::vector<std::string> names;  // of all rungs, run or not
  std::vector<Row> rows;
  std::size_t printed = 0;  // of the rows, on a GPU
  std::vector<Input> inputs;
  std::optional<Row> reference;  // of the group that is running
  bool reference_shown = false;
  int group = 0;
  std::optional<Table> table;

  State(LadderOptions ladder_options, std::ostream& to, std::ostream& errors)
      : options(std::move(ladder_options)), out(to), err(errors) {}

  void parse();
  void parse_n(const std::string& text);
  void read_file();
  void require_writable_json() const;
  void require_inputs_folder() const;

  bool wanted(const std::string& name, const std::string& changed);
  Row start_row(Row::Kind kind, const std::string& name, const std::string& changed, std::size_t n);
  void finish(Row row, const std::function<void(Row&)>& work);
  void add(Row row);
  void run(const Rung& rung, Row::Kind kind);
  void print_timed();
  void check_names() const;
  void write_json();
  int write_inputs();
  int conclude();
};

// ---- options -----------------------------------------------------------------------------------

void Ladder::State::parse() {
  CLI::App app("Runs the rungs of chapter " + environment.chapter + ", checks them, and compares.");
  app.set_help_flag("-h,--help", "Show this text");
  std::string n_text;
  app.add_option("--n", n_text, "Number of " + options.n_means + ": 1000000, 1e6 or 2^20")
      ->type_name("N");
  app.add_option("--only", only, "Run only these rungs")->delimiter(',')->type_name("NAME[,NAME]");
  app.add_flag("--list", list, "List the rungs, run nothing");
  const CLI::Option* const json =
      app.add_option("--json", json_path,
                     "Also write the results to this file; '-' is standard output")
          ->type_name("FILE");
  app.add_option("--inputs", inputs_path,
                 "Write the input arrays to this folder, for other programs; run no rung")
      ->type_name("FOLDER");
  if (!options.default_file.empty()) {
    app.add_option("--file", file_path, "Input file; default: the course's " + options.default_file)
        ->type_name("PATH");
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);  // CLI11 takes them last first
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    help = true;
    return;
  } catch (const CLI::ParseError& error) {
    throw BadOptions(error.what());
  }
  if (json->count() > 0 && json_path.empty()) throw BadOptions("--json '': a file was expected");
  n_given = !n_text.empty();
  environment.n_means = options.n_means;
  environment.n = kCpuDevice ? options.cpu_n : options.gpu_n;
  if (n_given) parse_n(n_text);
  if (list) environment.n = 1;  // no rung will run: do not make data for it
}

void Ladder::State::parse_n(const std::string& text) {
  const auto n = parse_size(text);
  if (!n || *n < 1 || *n > options.max_n) {
    throw BadOptions(
        fmt::format("--n {}: a number from 1 to {} was expected, such as 1000000, 1e6 or 2^20",
                    text, options.max_n));
  }
  environment.n = *n;
}

void Ladder::State::read_file() {
  if (options.default_file.empty() || list) return;
  const bool chosen = !file_path.empty();
  const std::filesystem::path path =
      chosen ? std::filesystem::path(file_path)
             : std::filesystem::path(COURSE_ROOT) / options.default_file;
  std::ifstream in(path, std::ios::binary);
  const bool folder = std::filesystem::is_directory(path);
  if (!in || folder) {
    throw BadOptions(fmt::format("{}{}: {}", chosen ? "--file " : "", path.string(),
                                 folder ? "is a folder" : std::strerror(errno)));
  }
  file.assign(std::istreambuf_iterator<char>(in), {});
  environment.file = path.filename().string();
  environment.file_size = file.size();
  const std::size_t most = n_given      ? environment.n
                           : kCpuDevice ? options.cpu_file_bytes
                                        : options.max_n;
  if (file.size() > most) file.resize(most);
  environment.file_bytes_used = file.size();
}

/// Better now than after the work. What was not there is not there afterwards either: an interrupted
/// run leaves no empty file.
void Ladder::State::require_writable_json() const {
  if (json_path.empty() || json_path == "-") return;
  std::error_code error;
  const bool existed = std::filesystem::exists(json_path, error);
  if (!std::ofstream(json_path, std::ios::app)) {
    throw BadOptions(fmt::format("--json {}: {}", json_path, std::strerror(errno)));
  }
  if (!existed) std::filesystem::remove(json_path, error);
}

void Ladder::State::require_inputs_folder() const {
  if (inputs_path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(inputs_path, error);
  if (error) throw BadOptions(fmt::format("--inputs {}: {}", inputs_path, error.message()));
}

// ---- rows --------------------------------------------------------------------------------------

bool Ladder::State::wanted(const std::string& name, const std::string& changed) {
  names.push_back(name);
  if (list) {
    out << fmt::format("{:<26} {}\n", name, changed);
    return false;
  }
  if (!inputs_path.empty()) return false;
  return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
}

/// A row of the running group. The reference's row comes with the first rung of its group.
Row Ladder::State::start_row(Row::Kind kind, const std::string& name, const std::string& changed,
                             std::size_t n) {
  if (reference && !std::exchange(reference_shown, true)) add(*reference);
  Row row;
  row.kind = kind;
  row.group = group;
  row.name = name;
  row.changed = changed;
  row.n = n > 0 ? n : reference ? reference->n : environment.n;
  if (reference) row.expected = reference->expected;
  if (const auto found = options.since.find(name); found != options.since.end())
    row.since = found->second;
  return row;
}

/// Runs what fills in the row, and adds it, also if that fails.
void Ladder::State::finish(Row row, const std::function<void(Row&)>& work) {
  bool lost = false;
  try {
    work(row);
  } catch (const CudaError& error) {
    row.failure = error.what();
    lost = is_sticky(error.code());
    static_cast<void>(cudaGetLastError());  // or the next rung's launch would report it again
  }
  add(std::move(row));
  if (lost) throw DeviceLost();
}

void Ladder::State::add(Row row) {
  rows.push_back(std::move(row));
  // On the CPU device no row is compared with one that is still to come.
  if (kCpuDevice) {
    table->print(rows.back(), nullptr, nullptr);
    (json_path == "-" ? err : out) << std::flush;  // the next rung may take seconds
  }
}

/// Prints the rows of the groups that are complete: a row is compared with rows of its group that come after it.
void Ladder::State::print_timed() {
  for (auto row = rows.begin() + static_cast<std::ptrdiff_t>(std::exchange(printed, rows.size()));
       row != rows.end(); ++row) {
    const auto comparable = [&](const Row& r) {
      return r.group == row->group && r.microseconds.has_value();
    };
    const auto before = std::find_if(std::make_reverse_iterator(row), rows.rend(), comparable);
    const Row* vendor = nullptr;  // the fastest
    for (const Row& r : rows) {
      if (!comparable(r) || r.kind != Row::Kind::vendor) continue;
      if (!vendor || r.microseconds->median < vendor->microseconds->median) vendor = &r;
    }
    table->print(*row, before == rows.rend() ? nullptr : &*before,
                 vendor == &*row ? nullptr : vendor);
  }
}

/// Judges the result of a rung: with its own check, or against the reference.
template <class AnyRung>
Verdict judge(const AnyRung& rung, Row& row) {
  if (rung.result) row.result = rung.result();
  row.tolerance = rung.tolerance;
  if (rung.check) return rung.check();
  if (!row.result || !row.expected) {
    throw std::logic_error(rung.name + ": a rung needs a reference and `result`, or `check`");
  }
  return close(*row.result, *row.expected, rung.tolerance, "result");
}

/// How a rung that is wrong on purpose differs from its declaration; nothing if it does not.
std::optional<std::string> broken_promise(const WrongRung& rung, const Row& row) {
  const Findings& f = row.findings;
  const bool race = rung.expect != Expect::wrong_value;
  const bool wrong_value = rung.expect != Expect::race;
  if (race && f.checked && f.races == 0 && f.others == 0) {
    return "declared to have a race, but none was reported";
  }
  if (f.others > 0 || (!race && f.races > 0)) {
    return "this is not the error that was declared:\n" + f.texts.back();
  }
  if (wrong_value && row.came_out_right) {
    return "declared to give a wrong value, but the value is right";
  }
  if (rung.exactly && row.result != rung.exactly) {
    return fmt::format("declared to give {}, but gave {}", number_text(*rung.exactly),
                       row.result ? number_text(*row.result) : "nothing");
  }
  return std::nullopt;
}

// ---- the interface -----------------------------------------------------------------------------

Ladder::Ladder(std::string chapter, int argc, const char* const* argv, LadderOptions options)
    : Ladder(std::move(chapter), argc, argv, std::move(options), std::cout, std::cerr) {}

Ladder::Ladder(std::string chapter, int argc, const char* const* argv, LadderOptions options,
               std::ostream& out, std::ostream& err)
    : state_(std::make_unique<State>(std::move(options), out, err)) {
  state_->environment.chapter = std::move(chapter);
  if (argc > 0) state_->arguments.assign(argv + 1, argv + argc);
}

Ladder::~Ladder() = default;

std::size_t Ladder::n() const { return state_->environment.n; }
const std::vector<unsigned char>& Ladder::file_bytes() const { return state_->file; }

std::vector<std::size_t> Ladder::sizes(std::initializer_list<std::size_t> gpu_sizes) const {
  if (kCpuDevice || state_->n_given || state_->list) return {n()};
  return gpu_sizes;
}

void Ladder::reference(const std::string& name, double value, const std::string& how,
                       std::size_t group_n) {
  if (!kCpuDevice) state_->print_timed();
  Row row;
  row.kind = Row::Kind::reference;
  row.group = ++state_->group;
  row.name = name;
  row.changed = how;
  row.n = group_n == 0 ? n() : group_n;
  row.expected = value;
  state_->reference = std::move(row);
  state_->reference_shown = false;
}

void Ladder::save_input(const std::string& name, const char* type, const void* d_data,
                        std::size_t bytes, const std::vector<std::size_t>& shape) {
  State& s = *state_;
  if (s.inputs_path.empty() || s.list) return;
  if (!type || !s.reference) {
    throw std::logic_error("Ladder::input(\"" + name + "\"): " +
                           (type ? "needs a reference before it" : "NumPy has no such type"));
  }
  const std::string file = fmt::format("{}-{}.bin", s.group, name);
  const std::filesystem::path path = std::filesystem::path(s.inputs_path) / file;
  std::ofstream out(path, std::ios::binary);
  std::vector<char> piece(std::min(bytes, kInputPiece));
  for (std::size_t at = 0; at < bytes; at += piece.size()) {
    const std::size_t size = std::min(piece.size(), bytes - at);
    CUDA_CHECK(cudaMemcpy(piece.data(), static_cast<const char*>(d_data) + at, size,
                          cudaMemcpyDeviceToHost));
    out.write(piece.data(), static_cast<std::streamsize>(size));
  }
  if (!out.flush()) throw std::runtime_error("--inputs: cannot write " + path.string());
  s.inputs.push_back({*s.reference, name, file, type, shape});
}

void Ladder::rung(const Rung& rung) { state_->run(rung, Row::Kind::rung); }
void Ladder::vendor(const Rung& rung) { state_->run(rung, Row::Kind::vendor); }

void Ladder::skip(const std::string& name, const std::string& why) {
  if (!state_->wanted(name, "skipped: " + why)) return;
  state_->out << fmt::format("{:<26} skipped: {}\n", name, why);
}

void Ladder::State::run(const Rung& rung, Row::Kind kind) {
  if (!wanted(rung.name, rung.changed)) return;
  finish(start_row(kind, rung.name, rung.changed, rung.n), [&](Row& row) {
    row.bytes = rung.bytes;
    row.operations = rung.operations;
    row.l2 = rung.l2;
    row.series = rung.series;
    row.x = rung.x;
    Verdict verdict;
    const Findings findings = find_races([&] {
      if (rung.reset) rung.reset();
      row.counters = count(rung.launch);
      verdict = judge(rung, row);
      if (rung.errors) row.errors = rung.errors();
    });
    if (!findings.texts.empty()) {
      row.failure = findings.texts.front();
    } else if (!verdict.ok) {
      row.failure = verdict.text;
    } else if (!kCpuDevice) {
      if (!environment.copy_gbs) environment.copy_gbs = copy_bandwidth();
      row.microseconds =
          sample_microseconds(rung.reset, rung.launch, {.scrub_l2 = rung.l2 == L2::cold});
    }
  });
}

void Ladder::wrong(const WrongRung& rung) {
  if (!state_->wanted(rung.name, rung.changed)) return;
  Row start = state_->start_row(Row::Kind::wrong, rung.name, rung.changed, rung.n);
  start.expect = rung.expect;
  start.because = rung.because;
  state_->finish(std::move(start), [&](Row& row) {
    const auto run = [&] {
      row.findings = find_races([&] {
        if (rung.reset) rung.reset();
        rung.launch();
        row.came_out_right = judge(rung, row).ok;
      });
    };
    std::uint64_t seed = kFirstWrongSeed;
    do {
      with_seed(seed, run);
    } while (rung.expect == Expect::race_and_wrong_value && row.came_out_right &&
             seed++ < kLastWrongSeed);
    row.failure = broken_promise(rung, row);
  });
}

// ---- the end -----------------------------------------------------------------------------------

void Ladder::State::check_names() const {
  for (const auto& [name, architecture] : options.since) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw std::logic_error(fmt::format("LadderOptions::since: there is no rung {}", name));
    }
  }
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw BadOptions(fmt::format("--only {}: there is no such rung; --list lists all", name));
    }
  }
}

void Ladder::State::write_json() {
  const std::string text = to_json(environment, rows);
  if (json_path == "-") {
    out << text;
  } else if (!json_path.empty()) {
    std::ofstream file(json_path);
    file << text;
    if (!file.flush()) throw std::runtime_error("--json " + json_path + ": cannot be written");
  }
}

int Ladder::State::write_inputs() {
  const std::filesystem::path path = std::filesystem::path(inputs_path) / "inputs.json";
  std::ofstream file(path);
  file << to_json(inputs);
  if (!file.flush()) throw std::runtime_error("--inputs: cannot write " + path.string());
  out << fmt::format("{} arrays are in {}\n", inputs.size(), inputs_path);
  return kOk;
}

/// The lines below the table, and main's exit code.
int Ladder::State::conclude() {
  std::ostream& to = json_path == "-" ? err : out;
  const auto failed = std::count_if(rows.begin(), rows.end(),
                                    [](const Row& row) { return row.failure.has_value(); });
  if (failed > 0) {
    to << fmt::format("\n{} of {} rows FAILED\n", failed, rows.size());
  } else if (json_path.empty()) {
    to << "\nEvery rung behaves as declared. --json FILE writes the results as JSON.\n";
  } else {
    to << "\nEvery rung behaves as declared.\n";
  }
  return failed > 0 ? kFailed : kOk;
}

int Ladder::run(const std::function<void(Ladder&)>& body) {
  const int code = run_to_end(body);
  if (state_->out.flush()) return code;
  state_->err << "ladder: standard output cannot be written: is the disk full?\n";
  return kFailed;
}

int Ladder::run_to_end(const std::function<void(Ladder&)>& body) {
  State& s = *state_;
  try {
    s.parse();
    if (s.help) return kOk;
    s.read_file();
    s.require_writable_json();
    s.require_inputs_folder();
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
      s.err << "ladder: skipped, there is no usable GPU: " << cudaGetErrorString(error) << "\n";
      return kNoDevice;
    }
    const auto turn = take_gpu_turn([&s] {
      s.err << "ladder: waiting: other programs of the course use this GPU\n" << std::flush;
    });
    describe_device(s.environment);
    s.table.emplace(s.environment, s.json_path == "-" ? s.err : s.out);
    std::string stopped;
    try {
      body(*this);
    } catch (const std::exception& exception) {
      stopped = exception.what();
    }
    if (!kCpuDevice) s.print_timed();
    if (!stopped.empty()) {
      s.err << "ladder: stopped: " << stopped << "\n";
      s.write_json();
      return kFailed;
    }
    s.check_names();
    if (s.list) return kOk;
    if (!s.inputs_path.empty()) return s.write_inputs();
    s.write_json();
    return s.conclude();
  } catch (const BadOptions& bad) {
    s.err << "ladder: " << bad.what() << "\nladder: --help shows the options\n";
    return kBadOptions;
  } catch (const std::exception& exception) {
    s.err << "ladder: " << exception.what() << "\n";
    return kFailed;
  }
}

}  // namespace course
