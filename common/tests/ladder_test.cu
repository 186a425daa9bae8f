// The ladder as a library: its options, its checks, its table and its JSON.
#include <unistd.h>
#include <course/check.cuh>
#include <course/ladder.cuh>

#include "../src/ladder_report.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using course::DeviceBuffer;
using course::Expect;
using course::Ladder;

namespace {

__global__ void count_atomic(std::size_t n, unsigned* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_count, 1u);
}

__global__ void count_racy(std::size_t n, unsigned* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_count[0] += 1;
}

__global__ void set_to_five(unsigned* d_count) { *d_count = 5; }
__global__ void write_behind(unsigned* d_count, int i) { d_count[i] = 5; }

unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + 255) / 256); }

/// What a ladder printed and returned.
struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
  bool says(const std::string& text) const { return (out + err).find(text) != std::string::npos; }
};

const course::LadderOptions kOptions = {.gpu_n = 1000, .cpu_n = 1000, .default_file = "LICENSE"};

Outcome run_ladder(std::vector<const char*> arguments, const std::function<void(Ladder&)>& body,
                   const course::LadderOptions& options = kOptions) {
  arguments.insert(arguments.begin(), "ladder");
  std::ostringstream out;
  std::ostringstream err;
  Ladder ladder("99-test", static_cast<int>(arguments.size()), arguments.data(), options, out, err);
  const int code = ladder.run(body);
  return {code, out.str(), err.str()};
}

/// A counter on the device with the rungs that the tests need.
struct Counting {
  DeviceBuffer<unsigned> d_count = DeviceBuffer<unsigned>::zeros(1);
  int launches = 0;

  course::Rung atomic(std::size_t n) {
    return {.name = "count_atomic",
            .changed = "one atomicAdd per element",
            .reset = [this] { d_count.fill_bytes(0); },
            .launch =
                [this, n] {
                  ++launches;
                  count_atomic<<<blocks_for(n), 256>>>(n, d_count.data());
                  CUDA_CHECK_LAUNCH();
                },
            .result = [this] { return d_count.front(); },
            .bytes = 4 * n};
  }
  course::Rung five() {
    course::Rung rung = atomic(0);
    rung.name = "set_to_five";
    rung.launch = [this] {
      ++launches;
      set_to_five<<<1, 1>>>(d_count.data());
    };
    return rung;
  }
  course::WrongRung racy(std::size_t n, Expect expect) {
    return {.name = "count_racy",
            .changed = "count += 1 by every thread",
            .expect = expect,
            .because = "Threads read the same old value.",
            .reset = [this] { d_count.fill_bytes(0); },
            .launch =
                [this, n] {
                  ++launches;
                  count_racy<<<blocks_for(n), 256>>>(n, d_count.data());
                },
            .result = [this] { return d_count.front(); }};
  }
  /// A right rung, declared wrong.
  course::WrongRung not_wrong(std::size_t n, Expect expect) {
    course::WrongRung rung = racy(n, expect);
    rung.launch = atomic(n).launch;
    return rung;
  }
};

/// One reference and one right rung.
void one_rung(Ladder& ladder) {
  Counting counting;
  ladder.reference("CPU reference", static_cast<double>(ladder.n()), "n itself");
  ladder.rung(counting.atomic(ladder.n()));
}

/// A ladder of one rung that is declared wrong; the right value is 1000.
Outcome run_wrong(const course::WrongRung& rung) {
  return run_ladder({}, [&](Ladder& ladder) {
    ladder.reference("CPU reference", 1000);
    ladder.wrong(rung);
  });
}

/// Its ladder fails, and says why.
void check_fails(const course::WrongRung& rung, const std::string& why) {
  const Outcome outcome = run_wrong(rung);
  CHECK(outcome.code == 1);
  CHECK(outcome.says(why));
}

/// A ladder of a rung, and count_atomic after it.
Outcome run_before_another(const course::Rung& rung, Counting& counting) {
  return run_ladder({}, [&](Ladder& ladder) {
    ladder.reference("CPU reference", 1000);
    ladder.rung(rung);
    ladder.rung(counting.atomic(1000));
  });
}

/// Standard output but for the JSON that `--json -` leaves there.
nlohmann::json json_of(const std::function<void(Ladder&)>& body) {
  return nlohmann::json::parse(run_ladder({"--json", "-"}, body).out);
}

}  // namespace

// ---- options -----------------------------------------------------------------------------------

TEST_CASE("sizes may be written in three ways") {
  CHECK(course::parse_size("1000000") == 1000000);
  CHECK(course::parse_size("1e6") == 1000000);
  CHECK(course::parse_size("3E2") == 300);
  CHECK(course::parse_size("2^20") == 1048576);
  CHECK(course::parse_size("0") == 0);
  for (const char* text : {"", "x", "-1", "1.5", "1e", "e6", "2^", "2^64", "1e20", "10 ", "+1",
                           "99999999999999999999", "2^3^4", "1e6e1"}) {
    INFO(text);
    CHECK_FALSE(course::parse_size(text).has_value());
  }
}

TEST_CASE("bad options end with code 2 and a message, and run nothing") {
  int runs = 0;
  const auto body = [&](Ladder&) { ++runs; };
  const auto refused = [&](std::vector<const char*> arguments, const std::string& message) {
    const Outcome outcome = run_ladder(std::move(arguments), body);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.says(message));
    CHECK(outcome.out.empty());
  };
  refused({"--n", "many"}, "--n many: a number from 1 to 2147483648 was expected");
  refused({"--n", "0"}, "--n 0: a number from 1");
  refused({"--n", "1e10"}, "--n 1e10: a number from 1");
  refused({"--n"}, "--n");
  refused({"--no-such-option"}, "--no-such-option");
  refused({"word"}, "word");
  refused({"--file", "/no/such/file"}, "--file /no/such/file: No such file or directory");
  refused({"--file", "/"}, "--file /: is a folder");
  refused({"--json", ""}, "--json '': a file was expected");
  refused({"--json", "/no/such/folder/x"}, "--json /no/such/folder/x: No such file or directory");
  CHECK(runs == 0);
}

TEST_CASE("a rung that does not exist is a bad option") {
  const Outcome outcome = run_ladder({"--only", "count_atomic,count_magic"}, one_rung);
  CHECK(outcome.code == 2);
  CHECK(outcome.says("--only count_magic: there is no such rung; --list lists all"));
}

TEST_CASE("help names the options") {
  const Outcome outcome = run_ladder({"--help"}, one_rung);
  CHECK(outcome.code == 0);
  for (const char* option : {"--n", "--only", "--list", "--json", "--inputs", "--file"}) {
    CHECK(outcome.says(option));
  }
}

TEST_CASE("a list runs nothing") {
  Counting counting;
  const Outcome outcome = run_ladder({"--list"}, [&](Ladder& ladder) {
    CHECK(ladder.n() == 1);  // no data for a size that no rung will use
    ladder.reference("CPU reference", 1);
    ladder.rung(counting.atomic(1));
    ladder.wrong(counting.racy(1, Expect::race));
  });
  CHECK(outcome.code == 0);
  CHECK(outcome.out ==
        "count_atomic               one atomicAdd per element\n"
        "count_racy                 count += 1 by every thread\n");
  CHECK(counting.launches == 0);
}

TEST_CASE("only the chosen rungs run") {
  Counting counting;
  const Outcome outcome = run_ladder({"--only", "count_atomic"}, [&](Ladder& ladder) {
    ladder.reference("CPU reference", 1000);
    ladder.rung(counting.atomic(1000));
    ladder.rung(counting.five());  // would fail
  });
  CHECK(outcome.code == 0);
  CHECK(outcome.says("count_atomic"));
  CHECK_FALSE(outcome.says("set_to_five"));
}

TEST_CASE("the size reaches the rungs") {
  std::size_t n = 0;
  CHECK(run_ladder({"--n", "2^9"}, [&](Ladder& ladder) { n = ladder.n(); }).code == 0);
  CHECK(n == 512);
  CHECK(run_ladder({}, [&](Ladder& ladder) { n = ladder.n(); }).code == 0);
  CHECK(n == 1000);
}

TEST_CASE("a group may have a size of its own") {
  const auto body = [](Ladder& ladder) {
    Counting counting;
    for (const std::size_t n : ladder.sizes({200, 300})) {
      ladder.reference("CPU reference", static_cast<double>(n), "", n);
      ladder.rung(counting.atomic(n));
    }
  };
  const auto sizes_of = [&](std::vector<const char*> arguments) {
    arguments.insert(arguments.end(), {"--json", "-"});
    std::vector<std::size_t> sizes;
    const nlohmann::json j = nlohmann::json::parse(run_ladder(arguments, body).out);
    for (const nlohmann::json& rung : j["rungs"]) {
      CHECK(rung["as_declared"] == true);
      if (rung["kind"] == "rung") sizes.push_back(rung["n"]);
    }
    return sizes;
  };
  using Sizes = std::vector<std::size_t>;
  CHECK(sizes_of({"--n", "77"}) == Sizes{77});
  CHECK(sizes_of({}) == (course::kCpuDevice ? Sizes{1000} : Sizes{200, 300}));
  CHECK(run_ladder({"--list"}, body).out ==
        "count_atomic               one atomicAdd per element\n");
}

TEST_CASE("a row says that its GPU lacks the rung's instruction") {
  const std::string says = course::replacement_text(90, "7.5");
  REQUIRE(says.find("needs sm_90: this GPU, sm_75, has no such instruction") == 0);
  REQUIRE(course::replacement_text(80, "7.5") != "");
  for (const char* newer : {"9.0", "10.0", "12.1"}) {
    REQUIRE(course::replacement_text(90, newer).empty());
  }
  REQUIRE(course::replacement_text(90, "").empty());  // the CPU device has them all
  REQUIRE(course::replacement_text(0, "7.5").empty());
}

TEST_CASE("an instruction of a rung that does not exist ends the ladder") {
  const Outcome outcome =
      run_ladder({}, one_rung, {.cpu_n = 1000, .since = {{"no_such_rung", 90}}});
  REQUIRE(outcome.code == 1);
  REQUIRE(outcome.err.find("there is no rung no_such_rung") != std::string::npos);
}

TEST_CASE("a file's bytes reach the rungs, no more than n of them") {
  std::vector<unsigned char> bytes;
  const auto body = [&](Ladder& ladder) { bytes = ladder.file_bytes(); };
  CHECK(run_ladder({}, body).code == 0);
  CHECK(std::string(bytes.begin(), bytes.end()).find("MIT License") != std::string::npos);
  CHECK(run_ladder({"--file", "/proc/self/cmdline", "--n", "2"}, body).code == 0);
  CHECK(bytes.size() == 2);
}

// ---- checks ------------------------------------------------------------------------------------

TEST_CASE("a right rung is shown with its result") {
  const Outcome outcome = run_ladder({}, one_rung);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.says("CPU reference                     1000"));
  CHECK(outcome.says("count_atomic                      1000"));
  CHECK(outcome.says("    one atomicAdd per element\n"));
  CHECK(outcome.says("Every rung behaves as declared."));
  CHECK(outcome.says(course::kCpuDevice ? "atomics" : "GB/s"));
}

TEST_CASE("no line is longer than 100 characters") {
  Counting counting;
  const Outcome outcome = run_ladder({}, [&](Ladder& ladder) {
    ladder.reference("CPU reference", 1000);
    course::Rung rung = counting.atomic(1000);
    rung.changed =
        "a sentence that has much to say and goes on for so long that it does not fit "
        "into one line of the table, however wide";
    ladder.rung(rung);
    ladder.wrong(counting.racy(1000, Expect::race));
  });
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
}

TEST_CASE("a wrong result fails the ladder and is not timed") {
  Counting counting;
  const Outcome outcome = run_ladder({}, [&](Ladder& ladder) {
    ladder.reference("CPU reference", 1000);
    ladder.rung(counting.five());
  });
  CHECK(outcome.code == 1);
  CHECK(
      outcome.says("set_to_five               FAILED\n    one atomicAdd per element\n"
                   "    result: expected 1000, found 5"));
  CHECK(outcome.says("1 of 2 rows FAILED"));
  CHECK(counting.launches == 1);
}

TEST_CASE("a rung's own check replaces the comparison") {
  Counting counting;
  course::Rung rung = counting.atomic(10);
  rung.check = [] { return course::Verdict{false, "bins[3]: expected 1, found 2"}; };
  const Outcome outcome = run_ladder({}, [&](Ladder& ladder) { ladder.rung(rung); });
  CHECK(outcome.code == 1);
  CHECK(outcome.says("bins[3]: expected 1, found 2"));
  rung.check = [] { return course::Verdict{}; };
  CHECK(run_ladder({}, [&](Ladder& ladder) { ladder.rung(rung); }).code == 0);
}

TEST_CASE("a tolerance is a tolerance") {
  Counting counting;
  course::Rung rung = counting.atomic(1000);
  const auto code = [&](double tolerance) {
    rung.tolerance = tolerance;
    return run_ladder({},
                      [&](Ladder& ladder) {
                        ladder.reference("CPU reference", 1001.5);
                        ladder.rung(rung);
                      })
        .code;
  };
  CHECK(code(1.5) == 0);
  CHECK(code(1.4) == 1);
}

TEST_CASE("an undeclared race fails the ladder") {
  course::skip_without_checker();
  Counting counting;
  course::Rung rung = counting.atomic(0);
  rung.check = [] { return course::Verdict{}; };
  rung.launch = [&] { count_racy<<<1, 256>>>(256, counting.d_count.data()); };
  const Outcome outcome = run_ladder({}, [&](Ladder& ladder) { ladder.rung(rung); });
  CHECK(outcome.code == 1);
  CHECK(outcome.says("FAILED\n    one atomicAdd per element\n    DATA RACE in kernel count_racy"));
}

TEST_CASE("a refused launch fails its rung, the others run") {
  Counting counting;
  course::Rung refused = counting.five();
  refused.launch = [&] {
    count_atomic<<<1, 2000>>>(1, counting.d_count.data());
    CUDA_CHECK_LAUNCH();
  };
  const Outcome outcome = run_before_another(refused, counting);
  CHECK(outcome.code == 1);
  CHECK(outcome.says("the kernel launch before this line failed: cudaErrorInvalid"));
  CHECK(outcome.says("count_atomic                      1000"));
}

TEST_CASE("an error that a rung leaves is not reported by the next one") {
  course::skip_under_sanitizer();
  Counting counting;
  course::Rung refused = counting.five();
  refused.reset = [] { CUDA_CHECK(cudaSetDevice(-1)); };
  const Outcome outcome = run_before_another(refused, counting);
  CHECK(outcome.code == 1);
  CHECK(outcome.says("cudaErrorInvalidDevice"));
  CHECK(outcome.says("1 of 3 rows FAILED"));
  CHECK(outcome.says("count_atomic                      1000"));
}

TEST_CASE("an illegal access fails its rung, the others run") {
  course::skip_without_checker();  // it would end this process's use of a GPU
  Counting counting;
  course::Rung illegal = counting.five();
  illegal.launch = [&] { write_behind<<<1, 1>>>(counting.d_count.data(), 1); };
  const Outcome outcome = run_before_another(illegal, counting);
  CHECK(outcome.code == 1);
  CHECK(outcome.says("OUT OF BOUNDS in kernel write_behind"));
  CHECK(outcome.says("count_atomic                      1000"));
}

TEST_CASE("an exception in the chapter's own code ends the ladder") {
  const Outcome outcome = run_ladder({}, [](Ladder& ladder) {
    one_rung(ladder);
    throw std::runtime_error("the data is missing");
  });
  CHECK(outcome.code == 1);
  CHECK(outcome.says("ladder: stopped: the data is missing"));
  CHECK(outcome.says("count_atomic                      1000"));
}

// ---- wrong on purpose --------------------------------------------------------------------------

TEST_CASE("a declared race is shown beside the right value, and runs once") {
  Counting counting;
  const Outcome outcome = run_wrong(counting.racy(1000, Expect::race));
  INFO(outcome.out);
  CHECK(outcome.code == 0);
  CHECK(outcome.says("count_racy                WRONG ON PURPOSE: "));
  CHECK(outcome.says("    Threads read the same old value.\n"));
  CHECK(counting.launches == 1);
  if (course::kCpuDevice) {
    CHECK(outcome.says("1000 is expected"));
    CHECK(outcome.says("    DATA RACE in kernel count_racy on d_count"));
  }
}

TEST_CASE("a declared race that is not there fails the ladder") {
  course::skip_without_checker();
  Counting counting;
  check_fails(counting.not_wrong(1000, Expect::race),
              "declared to have a race, but none was reported");
}

TEST_CASE("a declared wrong value that is right fails the ladder") {
  Counting counting;
  check_fails(counting.not_wrong(1000, Expect::wrong_value),
              "declared to give a wrong value, but the value is right");
}

TEST_CASE("a race where only a wrong value was declared fails the ladder") {
  course::skip_without_checker();
  Counting counting;
  check_fails(counting.racy(1000, Expect::wrong_value),
              "this is not the error that was declared:\n    DATA RACE");
}

TEST_CASE("a wrong value that is known must be that value") {
  Counting counting;
  course::WrongRung rung = counting.not_wrong(1000, Expect::wrong_value);
  const auto run = [&](double exactly) {
    rung.exactly = exactly;
    return run_ladder({}, [&](Ladder& ladder) {
      ladder.reference("CPU reference", 7);
      ladder.wrong(rung);
    });
  };
  CHECK(run(1000).code == 0);
  CHECK(run(1000).says("WRONG ON PURPOSE: 1000, but 7 is expected"));
  CHECK(run(999).code == 1);
  CHECK(run(999).says("declared to give 999, but gave 1000"));
}

// ---- JSON --------------------------------------------------------------------------------------

TEST_CASE("the JSON says what ran, where and how") {
  const nlohmann::json j = json_of([](Ladder& ladder) {
    Counting counting;
    ladder.reference("CPU reference", 1000, "n itself");
    ladder.rung(counting.atomic(1000));
    ladder.wrong(counting.racy(1000, Expect::race));
  });
  CHECK(j["schema"] == "course.ladder");
  CHECK(j["version"] == 1);
  CHECK(j["chapter"] == "99-test");
  CHECK(j["n"] == 1000);
  CHECK(j["file"]["name"] == "LICENSE");
  CHECK(j["file"]["bytes"] > 500);
  CHECK_FALSE(j["device"].get<std::string>().empty());
  CHECK_FALSE(j["compiler"].get<std::string>().empty());
  CHECK(j["date"].get<std::string>().size() == 20);
  REQUIRE(j["rungs"].size() == 3);
  CHECK(j["rungs"][0]["kind"] == "reference");
  const nlohmann::json& rung = j["rungs"][1];
  CHECK(rung["name"] == "count_atomic");
  CHECK(rung["changed"] == "one atomicAdd per element");
  CHECK(rung["expected"] == 1000);
  CHECK(rung["result"] == 1000);
  CHECK(rung["error"] == 0);
  CHECK(rung["as_declared"] == true);
  const nlohmann::json& wrong = j["rungs"][2];
  CHECK(wrong["kind"] == "wrong");
  CHECK(wrong["wrong"]["expect"] == "race");
  CHECK(wrong["wrong"]["races_checked"] == course::kCpuDevice);
  CHECK_FALSE(wrong.contains("microseconds"));
  if (course::kCpuDevice) {
    CHECK(j["cuda"].is_null());
    CHECK(j["copy_gb_per_s"].is_null());
    CHECK(rung["counters"]["global_atomics"] == 1000);
    CHECK_FALSE(rung.contains("microseconds"));
    CHECK(wrong["wrong"]["races"] > 0);
  } else {
    CHECK(j["copy_gb_per_s"] > 1);
    CHECK(rung["microseconds"]["samples"] >= 20);
    CHECK(rung["microseconds"]["p10"] <= rung["microseconds"]["median"]);
    CHECK(rung["gb_per_s"] > 0);
    CHECK_FALSE(rung.contains("counters"));
  }
}

TEST_CASE("the JSON has the counters under the names that their entries give them") {
  course::Row row;
  row.counters.emplace();
  std::uint64_t value = 1000;  // another one for each
  for (const simt::Counter& counter : simt::kCounters) (*row.counters).*counter.value = ++value;
  const std::string text = course::to_json(course::Environment(), {row});
  const nlohmann::ordered_json found = nlohmann::ordered_json::parse(text)["rungs"][0]["counters"];
  std::vector<std::string> names, expected;
  for (const auto& [name, _] : found.items()) {
    if (name != "sectors_per_request" && name != "bank_conflicts") names.push_back(name);
  }
  for (const simt::Counter& counter : simt::kCounters) {
    const std::string name = counter.reported_as;
    if (name.empty()) continue;
    expected.push_back(name);
    CHECK(found.value(name, std::uint64_t(0)) == (*row.counters).*counter.value);
  }
  CHECK(names == expected);
  CHECK(found["sectors_per_request"] == row.counters->sectors_per_request());
  CHECK(found["bank_conflicts"] == row.counters->bank_conflicts());
}

TEST_CASE("the JSON has the points of a curve, and what a launch does per nanosecond") {
  const nlohmann::json j = json_of([](Ladder& ladder) {
    Counting counting;
    ladder.reference("CPU reference", 1000);
    course::Rung point = counting.atomic(1000);
    point.l2 = course::L2::warm;
    point.operations = 1000;
    point.series = "unsigned";
    point.x = 64;
    ladder.rung(point);
    ladder.rung(counting.atomic(1000));
  });
  const nlohmann::json& point = j["rungs"][1];
  CHECK(point["series"] == "unsigned");
  CHECK(point["x"] == 64);
  const nlohmann::json& plain = j["rungs"][2];
  CHECK_FALSE(plain.contains("series"));
  if (!course::kCpuDevice) {
    CHECK(point["l2"] == "warm");
    CHECK(point["operations"] == 1000);
    CHECK(point["per_ns"].get<double>() * point["microseconds"]["median"].get<double>() ==
          Catch::Approx(1.0));
    CHECK(plain["l2"] == "cold");
    CHECK(plain["per_ns"].is_null());
  }
}

TEST_CASE("the JSON and the table have the errors of an answer of many numbers") {
  const auto body = [](Ladder& ladder) {
    Counting counting;
    ladder.reference("CPU reference", 1000);
    course::Rung rung = counting.atomic(1000);
    rung.errors = [] { return course::Errors{.max = 0.25, .mean = 0.03}; };
    ladder.rung(rung);
    ladder.rung(counting.atomic(1000));
  };
  const nlohmann::json j = json_of(body);
  CHECK(j["rungs"][1]["max_error"] == 0.25);
  CHECK(j["rungs"][1]["mean_error"] == 0.03);
  CHECK_FALSE(j["rungs"][2].contains("max_error"));
  CHECK(run_ladder({}, body).says("error: at most 2.5e-01, on average 3.0e-02"));
}

TEST_CASE("--inputs writes the arrays, and says which group they belong to") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("ladder_test_inputs_" + std::to_string(getpid()));
  const auto a = course::DeviceBuffer<int>::from({1, 2, 3, 4, 5, 6});
  const course::DeviceBuffer<double> empty;
  const auto body = [&](Ladder& ladder) {
    Counting counting;
    ladder.reference("CPU reference", 1000, "", 6);
    ladder.input("a", a, {2, 3});
    ladder.rung(counting.atomic(1000));
    ladder.reference("without inputs", 0);
    ladder.reference("nothing", 0);
    ladder.input("empty", empty);
  };
  CHECK(run_ladder({}, body).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder));
  const Outcome outcome = run_ladder({"--inputs", folder.c_str()}, body);
  CHECK(outcome.code == 0);
  CHECK(outcome.says("2 arrays are in"));
  CHECK_FALSE(outcome.says("count_atomic"));
  const nlohmann::json j = nlohmann::json::parse(std::ifstream(folder / "inputs.json"));
  REQUIRE(j["groups"].size() == 2);
  CHECK(j["groups"][1]["group"] == 3);
  CHECK(j["groups"][0]["group"] == 1);
  CHECK(j["groups"][0]["n"] == 6);
  CHECK(j["groups"][0]["expected"] == 1000);
  const nlohmann::json& input = j["groups"][0]["inputs"]["a"];
  CHECK(input["type"] == "int32");
  CHECK(input["shape"] == std::vector<int>{2, 3});
  std::ifstream file(folder / input["file"].get<std::string>(), std::ios::binary);
  std::vector<int> values(7);
  file.read(reinterpret_cast<char*>(values.data()), 7 * sizeof(int));
  CHECK(file.gcount() == 6 * sizeof(int));
  CHECK(values == std::vector<int>{1, 2, 3, 4, 5, 6, 0});
  CHECK(std::filesystem::file_size(folder / "3-empty.bin") == 0);
  file.close();
  std::filesystem::remove_all(folder);
  CHECK(run_ladder({"--inputs", "/dev/null/x"}, body).code == 2);
}

TEST_CASE("a failure is in the JSON, too") {
  const nlohmann::json j = json_of([](Ladder& ladder) {
    Counting counting;
    ladder.reference("CPU reference", 1000);
    ladder.rung(counting.five());
  });
  CHECK(j["rungs"][1]["as_declared"] == false);
  CHECK(j["rungs"][1]["failure"] == "result: expected 1000, found 5 (off by 995)");
  CHECK_FALSE(j["rungs"][1].contains("microseconds"));
}

TEST_CASE("an output that cannot be written is told, with code 1") {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  const char* const arguments[] = {"ladder"};
  Ladder ladder("99-test", 1, arguments, kOptions, full, err);
  CHECK(ladder.run(one_rung) == 1);
  CHECK(err.str().find("ladder: standard output cannot be written") == 0);
}

TEST_CASE("the JSON goes to a file when all rungs have run, the table to standard output") {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string path = folder / ("ladder_test_" + std::to_string(getpid()) + ".json");
  const Outcome outcome = run_ladder({"--json", path.c_str()}, [&](Ladder& ladder) {
    CHECK_FALSE(std::filesystem::exists(path));  // so an interrupted run leaves no empty one
    one_rung(ladder);
  });
  CHECK(outcome.code == 0);
  CHECK(outcome.says("count_atomic"));
  std::ifstream file(path);
  CHECK(nlohmann::json::parse(file)["rungs"].size() == 2);
  file.close();
  std::filesystem::remove(path);
}
