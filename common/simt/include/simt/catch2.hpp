// What the CPU device finds fails the running test case of Catch2.
//
// One file of a test program includes it; more may. There is nothing to call:
// - A finding is a failed assertion, at the file and line of the access that completed it, with the whole report as its message.
//   The test case goes on, as after FAIL_CHECK.
// - The end of a test case, and of each run of it that its sections make, waits for all work of all devices: what a kernel does
//   that was not waited for is found, too, and belongs to the test case that launched it. Then the devices are reset.
// - Each test case begins the schedule of the environment's SIMT_SEED anew (default 0): it does the same alone and among others.
// - Remarks, which are legal but suspicious, are warnings of a test case that has failed.
// - Paths are relative to the folder in which the program was started, or whole.
// - A finding outside of all test cases goes to the handler that was there before: by default it is printed to stderr, and the
//   program ends with 66.
// Catch2 3.4 or newer. As with the runtime API, only one thread of the host may use it.
#pragma once

#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_reporter.hpp>
#include <catch2/internal/catch_assertion_handler.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "simt/testing.hpp"

namespace simt::detail {

class Catch2Listener : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  static std::string getDescription() { return "What the CPU device finds fails the test case"; }

  void testRunStarting(const Catch::TestRunInfo&) override {
    seed_ = simt::seed();
    simt::show_paths_from(std::filesystem::current_path());
    before_ = simt::set_report_handler([this](const simt::Report& report) { take(report); });
  }
  void testRunEnded(const Catch::TestRunStats&) override {
    simt::set_report_handler(std::move(before_));
  }
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    simt::name_test(info.name);
    place_ = info.lineInfo;
    has_crashed_ = false;
  }
  void sectionStarting(const Catch::SectionInfo&) override {
    if (sections_++ > 0) return;  // the first is the test case itself
    static_cast<void>(simt::take_notes());
    simt::set_seed(seed_);
    has_failed_ = false;
  }
  void assertionEnded(const Catch::AssertionStats& stats) override {
    has_failed_ |= !stats.assertionResult.isOk();
    has_crashed_ |= stats.assertionResult.getResultType() == Catch::ResultWas::FatalErrorCondition;
  }
  void sectionEnded(const Catch::SectionStats&) override {
    if (sections_ == 1 && !has_crashed_) {
      for (int device = 0; device < simt::device_count(); ++device) {
        static_cast<void>(cudaSetDevice(device));
        static_cast<void>(cudaDeviceSynchronize());
      }
      simt::reset_device();
      if (has_failed_) {
        for (const simt::Note& note : simt::take_notes()) {
          tell(Catch::ResultWas::Warning, place_, note.text);
        }
      }
    }
    --sections_;
  }

 private:
  void take(const simt::Report& report) {
    if (sections_ == 0) {
      before_(report);
    } else {
      const char* const file = files_.insert(report.file).first->c_str();
      tell(Catch::ResultWas::ExplicitFailure, {file, static_cast<std::size_t>(report.line)},
           report.text);
    }
  }
  /// What Catch2's macros do, at another line than this one.
  static void tell(Catch::ResultWas::OfType kind, const Catch::SourceLineInfo& place,
                   std::string text) {
    Catch::AssertionHandler handler(Catch::StringRef("simt"), place, Catch::StringRef(),
                                    Catch::ResultDisposition::ContinueOnFailure);
    handler.handleMessage(kind, std::move(text));
    handler.complete();
  }

  std::uint64_t seed_ = 0;
  simt::ReportHandler before_;
  Catch::SourceLineInfo place_{"", 0};  // of the test case
  std::set<std::string> files_;         // Catch2 keeps pointers to their names
  int sections_ = 0;                    // that are open
  bool has_failed_ = false, has_crashed_ = false;
};

inline const Catch::ListenerRegistrar<Catch2Listener> catch2_listener(Catch::StringRef("simt"));

}  // namespace simt::detail
