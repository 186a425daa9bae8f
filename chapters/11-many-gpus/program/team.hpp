// The ranks: processes that MPI has started, one per device, and how each knows that all are there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "poll.hpp"

/// MPI, from its start to its end. A program that mpirun has not started is a team of one rank.
class Mpi {
 public:
  Mpi();
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  int rank() const;
};

struct Answer;

/// All ranks of MPI_COMM_WORLD. Every member that says "all ranks" has to be called by all of them,
/// in the same order.
///
/// A rank that fails must not leave the others waiting. So the roll is called before each
/// collective and after it: every rank tells rank 0 where it is and how it went, and rank 0 tells
/// all of them whether they go on. No wait is without a limit: who does not answer in time is
/// named.
class Team {
 public:
  /// `patience`: how long ranks wait for one another. All ranks.
  explicit Team(Seconds patience);

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The place of this rank among those of its host, from 0.
  int local_rank() const { return local_rank_; }
  const std::string& host() const { return hosts_[static_cast<std::size_t>(rank_)]; }
  int hosts() const;
  Seconds patience() const { return patience_; }
  /// "rank 3 on HOST".
  std::string name(int rank) const;

  /// Does work that needs no other rank, then calls the roll. `work` returns how many elements this
  /// rank brings to the collective that comes next. Throws TeamFailure on all ranks if work threw
  /// on one of them, or if one brings another number of elements. A rank that does not answer ends
  /// all.
  void each(const std::string& step, const std::function<std::size_t()>& work);
  /// Does work that needs all ranks, such as a collective, then calls the roll. If it throws
  /// TimedOut, the roll shows who is missing. With any other exception this rank says so and ends
  /// all: the others are waiting for it.
  void together(const std::string& step, const std::function<void()>& work);

  // Collectives of MPI, for use inside together(). TimedOut if they take longer than patience().
  void barrier();
  /// The first rank's `bytes` bytes at `data` come to all ranks.
  void broadcast(void* data, std::size_t bytes);
  /// The sum over all ranks, element by element. At most 2^31 - 1 elements.
  void sum(const double* in, double* out, std::size_t n);
  void sum(const float* in, float* out, std::size_t n);
  /// For each element the largest of all ranks.
  std::vector<double> largest(const std::vector<double>& values);

  /// Prints `text` as an error and ends all ranks, those that do not answer, too.
  [[noreturn]] void end_all(const std::string& text) const;

 private:
  void all_reduce(const void* in, void* out, std::size_t n, MPI_Datatype type, MPI_Op operation);
  void wait(MPI_Request request, const char* what) const;
  void call_roll(const Answer& mine, Seconds limit) const;
  std::vector<Answer> hear_all(const Answer& mine, Seconds limit) const;
  void tell_all(std::string verdict, Seconds limit) const;
  std::string hear_verdict(const Answer& mine, Seconds limit) const;

  Seconds patience_;
  int rank_ = 0, size_ = 1, local_rank_ = 0;
  std::vector<std::string> hosts_;  // of all ranks
};
