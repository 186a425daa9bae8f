#include "team.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include "errors.hpp"
#include "roll.hpp"

namespace {

constexpr int kAnswerTag = 1, kVerdictTag = 2;

// MPI_Init, MPI_Comm_split_type and MPI_Finalize wait for all ranks, and there is no form of them
// that can be polled. So an alarm clock runs meanwhile.
class AlarmClock {
 public:
  explicit AlarmClock(unsigned seconds) {
    std::signal(SIGALRM, [](int) {
      constexpr std::string_view kText =
          "sum_mpi: a rank does not answer while MPI starts or ends: see which one is stopped\n";
      static_cast<void>(!write(STDERR_FILENO, kText.data(), kText.size()));
      _exit(kFailed);
    });
    alarm(seconds);
  }
  ~AlarmClock() { alarm(0); }
  AlarmClock(const AlarmClock&) = delete;
  AlarmClock& operator=(const AlarmClock&) = delete;
};
constexpr unsigned kAlarmSeconds = 20;

std::array<char, MPI_MAX_PROCESSOR_NAME> host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  MPI_Get_processor_name(host.data(), &length);
  return host;
}

/// Which of the requests have finished within `limit`.
std::vector<bool> finished(std::vector<MPI_Request>& requests, Seconds limit) {
  std::vector<bool> done(requests.size());
  poll(
      [&] {
        bool all = true;
        for (std::size_t i = 0; i < requests.size(); ++i) {
          int flag = 1;  // a request that has ended is MPI_REQUEST_NULL: that tests true, too
          MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
          done[i] = flag != 0;
          all = all && done[i];
        }
        return all;
      },
      limit);
  return done;
}

}  // namespace

// MPI's own errors end all ranks, with a message that names the rank: that is MPI's default.
Mpi::Mpi() {
  const AlarmClock clock(kAlarmSeconds);
  MPI_Init(nullptr, nullptr);
}

Mpi::~Mpi() {
  const AlarmClock clock(kAlarmSeconds);
  MPI_Finalize();
}

int Mpi::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

Team::Team(Seconds patience) : patience_(patience) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  together("start", [&] {
    {
      const AlarmClock clock(kAlarmSeconds);
      MPI_Comm same_host = MPI_COMM_NULL;
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &same_host);
      MPI_Comm_rank(same_host, &local_rank_);
      MPI_Comm_free(&same_host);
    }
    const auto mine = host_name();
    std::vector<std::array<char, MPI_MAX_PROCESSOR_NAME>> all(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(),
                   MPI_MAX_PROCESSOR_NAME, MPI_CHAR, MPI_COMM_WORLD, &request);
    wait(request, "MPI_Iallgather");
    for (const auto& host : all) hosts_.emplace_back(host.data());
  });
}

int Team::hosts() const {
  return static_cast<int>(std::set<std::string>(hosts_.begin(), hosts_.end()).size());
}

std::string Team::name(int rank) const {
  if (hosts_.empty()) return fmt::format("rank {}", rank);  // all is still starting
  return fmt::format("rank {} on {}", rank, hosts_[static_cast<std::size_t>(rank)]);
}

void Team::end_all(const std::string& text) const {
  std::fflush(stdout);
  std::fputs(("sum_mpi: " + text + "\n").c_str(), stderr);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, kFailed);
  std::abort();  // MPI_Abort does not return
}

// ---- the roll -----------------------------------------------------------------------------------

void Team::each(const std::string& step, const std::function<std::size_t()>& work) {
  Answer mine;
  mine.set_step(step);
  try {
    mine.length = work();
    mine.outcome = Outcome::done;
  } catch (const std::exception& error) {
    mine.outcome = Outcome::failed;
    mine.set_text(error.what());
  }
  call_roll(mine, patience_);
}

void Team::together(const std::string& step, const std::function<void()>& work) {
  Answer mine;
  mine.set_step(step);
  try {
    work();
    mine.outcome = Outcome::done;
  } catch (const TimedOut& error) {
    mine.outcome = Outcome::timed_out;
    mine.set_text(error.what());
  } catch (const std::exception& error) {
    end_all(fmt::format("{}: {}: {}", name(rank_), step, error.what()));
  }
  // Those that answer at all come here at about the same time, so half the patience is enough.
  call_roll(mine, patience_ / 2);
}

void Team::call_roll(const Answer& mine, Seconds limit) const {
  if (rank_ != 0) {
    // Rank 0 may come `limit` later than this rank, and then waits so long for the others. The
    // lower ranks lose their patience first, so that one speaks, and not all.
    const std::string error = hear_verdict(mine, limit * (2 + 0.2 * rank_ / size_));
    if (!error.empty()) throw TeamFailure(error);
    return;
  }
  const Verdict verdict = judge(
      hear_all(mine, limit), [this](int rank) { return name(rank); }, limit.count());
  // No verdict is sent then: who hears one might end before the error is printed.
  if (!verdict.all_answer) end_all(verdict.error);
  tell_all(verdict.error, limit);
  if (!verdict.error.empty()) throw TeamFailure(verdict.error);
}

std::vector<Answer> Team::hear_all(const Answer& mine, Seconds limit) const {
  std::vector<Answer> answers(static_cast<std::size_t>(size_));
  std::vector<Answer> received(answers.size());
  std::vector<MPI_Request> requests(answers.size(), MPI_REQUEST_NULL);
  for (int rank = 1; rank < size_; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    MPI_Irecv(&received[i], sizeof(Answer), MPI_BYTE, rank, kAnswerTag, MPI_COMM_WORLD,
              &requests[i]);
  }
  const std::vector<bool> done = finished(requests, limit);
  answers[0] = mine;
  for (std::size_t i = 1; i < answers.size(); ++i) {
    if (done[i]) answers[i] = received[i];
  }
  return answers;
}

void Team::tell_all(std::string verdict, Seconds limit) const {
  verdict.resize(sizeof(Answer::text));  // of one size, as the answers are
  std::vector<MPI_Request> requests(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
  for (int rank = 1; rank < size_; ++rank) {
    MPI_Isend(verdict.data(), static_cast<int>(verdict.size()), MPI_CHAR, rank, kVerdictTag,
              MPI_COMM_WORLD, &requests[static_cast<std::size_t>(rank)]);
  }
  const std::vector<bool> done = finished(requests, limit);
  for (int rank = 1; rank < size_; ++rank) {
    if (!done[static_cast<std::size_t>(rank)]) {
      end_all(name(rank) + " does not receive any more");
    }
  }
}

std::string Team::hear_verdict(const Answer& mine, Seconds limit) const {
  std::string verdict(sizeof(Answer::text), '\0');
  std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
  MPI_Irecv(verdict.data(), static_cast<int>(verdict.size()), MPI_CHAR, 0, kVerdictTag,
            MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&mine, sizeof(Answer), MPI_BYTE, 0, kAnswerTag, MPI_COMM_WORLD, &requests[1]);
  if (!finished(requests, limit)[0]) {
    end_all(fmt::format("{} does not answer: after {} rank {} has waited {:.3g} s for it", name(0),
                        mine.step, rank_, limit.count()));
  }
  return verdict.c_str();
}

// ---- collectives --------------------------------------------------------------------------------

void Team::wait(MPI_Request request, const char* what) const {
  std::vector<MPI_Request> requests = {request};
  if (finished(requests, patience_)[0]) return;
  throw TimedOut(
      fmt::format("{} has not ended after {:.3g} s, the --timeout", what, patience_.count()));
}

void Team::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait(request, "MPI_Ibarrier");
}

void Team::broadcast(void* data, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  wait(request, "MPI_Ibcast");
}

void Team::all_reduce(const void* in, void* out, std::size_t n, MPI_Datatype type,
                      MPI_Op operation) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(in, out, static_cast<int>(n), type, operation, MPI_COMM_WORLD, &request);
  wait(request, "MPI_Iallreduce");
}

void Team::sum(const double* in, double* out, std::size_t n) {
  all_reduce(in, out, n, MPI_DOUBLE, MPI_SUM);
}

void Team::sum(const float* in, float* out, std::size_t n) {
  all_reduce(in, out, n, MPI_FLOAT, MPI_SUM);
}

std::vector<double> Team::largest(const std::vector<double>& values) {
  std::vector<double> largest(values.size());
  all_reduce(values.data(), largest.data(), values.size(), MPI_DOUBLE, MPI_MAX);
  return largest;
}
