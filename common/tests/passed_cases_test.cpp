// Which case that has passed is told beside one that failed.
#include "passed_cases.hpp"

#include <catch2/catch_test_macros.hpp>

using course::runner::PassedCases;

TEST_CASE("the nearest case differs in one property") {
  PassedCases passed;
  passed.add(1, {"n = 32: all below zero; sum<<<3, 32>>>"}, "a.cu:7");
  passed.add(2, {"n = 33: all below zero; sum<<<3, 32>>>"}, "a.cu:7");
  passed.add(3, {"n = 33: all zero; sum<<<3, 32>>>"}, "a.cu:7");
  CHECK(passed.nearest({"n = 33: one NaN; sum<<<3, 32>>>"}, "a.cu:7") ==
        "The case with \"all zero\" passed; this one has \"one NaN\".");
  CHECK(passed.nearest({"n = 64: all below zero; sum<<<3, 32>>>"}, "a.cu:7") ==
        "The case with \"n = 33\" passed; this one has \"n = 64\".");
  CHECK(passed.nearest({"n = 64: one NaN; sum<<<3, 32>>>"}, "a.cu:7").empty());
}

TEST_CASE("a launch may differ, too, where no case has the same one") {
  PassedCases passed;
  passed.add(1, {"n = 32: all zero; sum<<<1, 32>>>"}, "a.cu:7");
  CHECK(
      passed.nearest({"n = 33: all zero; sum<<<2, 32>>>"}, "a.cu:7") ==
      "The case with \"n = 32\" and \"sum<<<1, 32>>>\" passed; this one has \"n = 33\" and \"sum<<<2, 32>>>\".");
  passed.add(2, {"n = 32: all zero; sum<<<2, 32>>>"}, "a.cu:7");
  passed.add(3, {"n = 31: all zero; sum<<<3, 32>>>"}, "a.cu:7");
  CHECK(passed.nearest({"n = 33: all zero; sum<<<2, 32>>>"}, "a.cu:7") ==
        "The case with \"n = 32\" passed; this one has \"n = 33\".");
}

TEST_CASE("a launch of another block size is a property of its own") {
  PassedCases passed;
  passed.add(1, {"n = 1: all zero; sum<<<1, 96>>>"}, "a.cu:7");
  CHECK(passed.nearest({"n = 31: all zero; sum<<<1, 32>>>"}, "a.cu:7").empty());
  CHECK(passed.nearest({"n = 1: all zero; sum<<<4, 32>>>"}, "a.cu:7").empty());
  CHECK(passed.nearest({"n = 1: all zero; sum<<<1, 32>>>"}, "a.cu:7") ==
        "The case with \"sum<<<1, 96>>>\" passed; this one has \"sum<<<1, 32>>>\".");
  CHECK(passed.nearest({"n = 1: all zero; sum<<<4, 96>>>"}, "a.cu:7") ==
        "The case with \"sum<<<1, 96>>>\" passed; this one has \"sum<<<4, 96>>>\".");
  CHECK(passed.nearest({"n = 1: all zero; sum<<<4, 96>>>, in place"}, "a.cu:7").empty());
  passed.add(2, {"sum<<<(2, 2), (32, 4), 64>>>"}, "a.cu:7");
  CHECK(
      passed.nearest({"sum<<<(2, 2), (32, 8), 64>>>"}, "a.cu:7") ==
      "The case with \"sum<<<(2, 2), (32, 4), 64>>>\" passed; this one has \"sum<<<(2, 2), (32, 8), 64>>>\".");
  CHECK(passed.nearest({"sum<<<(2, 2), (32, 8), 32>>>"}, "a.cu:7").empty());
}

TEST_CASE("shared memory and a count that change with the block are no other properties") {
  PassedCases passed;
  passed.add(1, {"n = 9; sum<<<1, 32, 128>>>"}, "a.cu:7");
  CHECK(passed.nearest({"n = 9; sum<<<1, 64, 256>>>"}, "a.cu:7") ==
        "The case with \"sum<<<1, 32, 128>>>\" passed; this one has \"sum<<<1, 64, 256>>>\".");
  passed.add(2, {"matrices; scan<<<1, 32>>>; values of the calls: 32"}, "a.cu:7");
  CHECK(
      passed.nearest({"matrices; scan<<<1, 64>>>; values of the calls: 64"}, "a.cu:7") ==
      "The case with \"scan<<<1, 32>>>\" and \"values of the calls: 32\" passed; this one has \"scan<<<1, 64>>>\" and "
      "\"values of the calls: 64\".");
  CHECK(passed.nearest({"matrices; scan<<<1, 64>>>; values of the calls: 63"}, "a.cu:7").empty());
}

TEST_CASE("of a list the entry that differs is told") {
  PassedCases passed;
  passed.add(1, {"n = 5: all zero", "limit 2, capacity 3"}, "a.cu:7");
  CHECK(passed.nearest({"n = 5: all zero", "limit 2, capacity 4"}, "a.cu:7") ==
        "The case with \"capacity 3\" passed; this one has \"capacity 4\".");
  passed.add(2, {"f(x, 0, 2)"}, "a.cu:7");
  CHECK(passed.nearest({"f(x, 1, 2)"}, "a.cu:7") ==
        "The case with \"f(x, 0, 2)\" passed; this one has \"f(x, 1, 2)\".");
}

TEST_CASE("a call of another function, and a launch of another kernel, are not near") {
  PassedCases passed;
  passed.add(1, {"the pieces of piece_of(7, 100)"}, "a.cu:7");
  passed.add(2, {"n = 5: all zero; count<<<1, 32>>>"}, "a.cu:7");
  CHECK(passed.nearest({"split_sum(h_x, 3000, 2)"}, "").empty());
  CHECK(passed.nearest({"n = 5: all zero; write<<<1, 32>>>"}, "a.cu:7").empty());
}

TEST_CASE("calls of one object are not near each other if more than their number differs") {
  PassedCases passed;
  passed.add(1, {"n = 100: all zero; call 1 of one object"}, "a.cu:7");
  CHECK(passed.nearest({"n = 5000: all zero; call 2 of one object"}, "a.cu:7").empty());
  CHECK(passed.nearest({"n = 100: all zero; call 3 of one object"}, "a.cu:7") ==
        "The case with \"call 1 of one object\" passed; this one has \"call 3 of one object\".");
}

TEST_CASE("the same comparison has passed, or any if the failure is no comparison") {
  PassedCases passed;
  passed.add(1, {"n = 5"}, "a.cu:7");
  CHECK(passed.nearest({"n = 6"}, "a.cu:8").empty());
  CHECK(passed.nearest({"n = 6"}, "") == "The case with \"n = 5\" passed; this one has \"n = 6\".");
  passed.add(1, {"n = 5"}, "a.cu:8");
  CHECK_FALSE(passed.nearest({"n = 6"}, "a.cu:8").empty());
}

TEST_CASE("the same case, and cases that say other things, are not near") {
  PassedCases passed;
  passed.add(1, {}, "a.cu:7");
  passed.add(2, {"n = 6"}, "a.cu:7");
  passed.add(3, {"n = 5: zeros"}, "a.cu:7");
  CHECK(passed.nearest({"n = 6"}, "a.cu:7").empty());
  CHECK(passed.nearest({}, "a.cu:7").empty());
  passed.clear();
  CHECK(passed.nearest({"n = 7"}, "a.cu:7").empty());
}
