// How a profile grows with the length of the run: feeds the writer with made-up programs at the
// speed of the disk, and prints the size of the file and of this process as they go on. See
// README.md.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "profile/reader.h"
#include "profile/writer.h"

using namespace linescope;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr double kRateHz = 1000;

struct Program {
  const char* name;
  const char* what;
  int64_t seconds;
  int64_t step_s;  // one commit; a recorder's is at most a second
  uint32_t stacks;
  double zipf;          // share of the n-th stack is 1 / n^zipf
  int64_t thread_s;     // a thread's life; 0: as long as the run
  uint32_t new_stacks;  // a second, each sampled once
};

constexpr int64_t kWeek = 7 * 24 * 3600;
constexpr Program kPrograms[] = {
    {"steady", "8 threads on 400 stacks", 1800, 1, 400, 1.3, 0, 0},
    {"steady-week", "the same for a week", kWeek, 60, 400, 1.3, 0, 0},
    {"zipf", "8 threads on 20,000 stacks, heavy-tailed", 1800, 1, 20'000, 1.0, 0, 0},
    {"zipf-week", "the same for a week", kWeek, 600, 20'000, 1.0, 0, 0},
    {"churn", "8 threads at a time that live for a second", 1800, 1, 400, 1.3, 1, 0},
    {"churn-day", "the same for a day", 24 * 3600, 20, 400, 1.3, 1, 0},
    {"ever-new", "8 threads, and 400 new stacks a second", 1800, 1, 400, 1.3, 0, 400},
};
constexpr uint32_t kThreads = 8;
constexpr ThreadState kStates[] = {ThreadState::kRunningWithGil, ThreadState::kGilWait,
                                   ThreadState::kWaiting};
constexpr double kStateShares[] = {0.125, 0.675, 0.2};

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

int64_t SizeOf(const std::filesystem::path& path, const char* suffix = "") {
  std::error_code error;
  const auto size = std::filesystem::file_size(path.string() + suffix, error);
  return error ? 0 : static_cast<int64_t>(size);
}

double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// A tree ten deep: the n-th stack is called by one of those before it.
std::vector<StackId> MakeStacks(ProfileWriter& writer, uint32_t count, std::mt19937_64& random) {
  std::vector<FunctionId> functions;
  for (int i = 0; i < 200; ++i) {
    const std::string name = fmt::format("function_{}", i);
    functions.push_back(writer.AddFunction(
        {fmt::format("/project/package/module_{}.py", i / 10), name, name, 10 * i + 1, true}));
  }
  std::vector<StackId> stacks;
  for (uint32_t i = 0; i < count; ++i) {
    const StackId parent = i == 0 ? kNoStack : stacks[random() % std::min(i, i / 4 + 1)];
    const auto line = static_cast<int32_t>(i / functions.size() + 1);
    stacks.push_back(writer.AddStack({parent, functions[i % functions.size()], {.line = line}}));
  }
  return stacks;
}

class Recording {
 public:
  Recording(const Program& program, const std::filesystem::path& path)
      : program_(program), path_(path) {
    RunInfo run;
    run.rate_hz = kRateHz;
    auto writer = ProfileWriter::Create(path, run);
    if (!writer) Stop(writer.error());
    writer_ = *std::move(writer);
    process_ = writer_->AddProcess({});
    stacks_ = MakeStacks(*writer_, program.stacks, random_);
    double sum = 0;
    for (uint32_t i = 0; i < program.stacks; ++i) sum += shares_.emplace_back(Share(i));
    for (double& share : shares_) share /= sum;
  }

  void Run() {
    std::printf("%s: %s, %.0f Hz\n%12s %10s %12s %10s %12s\n", program_.name, program_.what,
                kRateHz, "time", "file", "of 1/3 time", "log", "memory");
    int64_t third = 0;
    for (int64_t second = 0; second < program_.seconds; second += program_.step_s) {
      Step(second);
      const int64_t done = second + program_.step_s;
      if (done * 12 / program_.seconds == second * 12 / program_.seconds) continue;
      const int64_t size = SizeOf(path_);
      if (done * 3 >= program_.seconds && third == 0) third = size;
      std::printf("%10lld s %7.2f MB %12s %7.2f MB %9.1f MB\n", static_cast<long long>(done),
                  Mega(size),
                  third == 0 ? "" : fmt::format("{:.3f}", Mega(size) / Mega(third)).c_str(),
                  Mega(SizeOf(path_, "-wal")), Mega(ResidentBytes()));
      std::fflush(stdout);
    }
    RunEnd end;
    end.elapsed_ns = program_.seconds * kSecond;
    end.samples = samples_;
    if (Status status = writer_->Finish(end); !status) Stop(status.error());
    Check();
    std::printf("%12s %7.2f MB; a commit took %.2f ms of CPU, the longest %.0f ms\n\n", "finished",
                Mega(SizeOf(path_)),
                commits_s_ * 1e3 * static_cast<double>(program_.step_s) /
                    static_cast<double>(program_.seconds),
                longest_s_ * 1e3);
  }

 private:
  [[noreturn]] static void Stop(const Error& error) {
    std::fprintf(stderr, "profile_growth: %s\n", error.what.c_str());
    std::exit(1);
  }
  static double Mega(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }
  [[nodiscard]] double Share(uint32_t stack) const { return std::pow(stack + 1.0, -program_.zipf); }

  void Step(int64_t second) {
    const double ticks = kRateHz * static_cast<double>(program_.step_s);
    std::vector<SampleCell> cells;
    for (uint32_t i = 0; i < kThreads; ++i) {
      const ThreadId thread = ThreadAt(i, second);
      for (size_t stack = 0; stack < stacks_.size(); ++stack) {
        for (size_t state = 0; state < std::size(kStates); ++state) {
          // Threads do not do the same: each has its favourites.
          const double share = shares_[(stack + i * 7) % shares_.size()] * kStateShares[state];
          Add(cells, thread, stacks_[stack], kStates[state], Poisson(ticks * share));
        }
      }
    }
    for (int64_t i = 0; i < program_.new_stacks * program_.step_s; ++i) {
      const std::string name = fmt::format("made_{}", new_functions_++ % 50'000);
      const FunctionId function = writer_->AddFunction({"<string>", name, name, 1, false});
      const StackId stack = writer_->AddStack(
          {stacks_[random_() % stacks_.size()], function, {.line = static_cast<int32_t>(second)}});
      Add(cells, threads_[i % kThreads], stack, kStates[0], 1);
    }
    const double begin = CpuSeconds();
    writer_->AddSamples(second * kSecond, (second + program_.step_s) * kSecond, cells);
    if (Status status = writer_->Commit(); !status) Stop(status.error());
    const double took = CpuSeconds() - begin;
    commits_s_ += took;
    longest_s_ = std::max(longest_s_, took);
  }

  // The i-th of those that are there now.
  ThreadId ThreadAt(uint32_t i, int64_t second) {
    const bool first = threads_.size() < kThreads;
    if (first || program_.thread_s != 0) {
      // Of a step that is longer than a life all those who lived in it are there at its end.
      for (int64_t life = first ? 0 : program_.step_s / program_.thread_s; life >= 0; --life) {
        if (!first) writer_->EndThread(threads_[i], second * kSecond);
        const int tid = ++last_tid_ % 4'000'000;
        const ThreadId id = writer_->AddThread({.process = process_,
                                                .tid = tid,
                                                .name = fmt::format("worker-{}", tid),
                                                .is_main = first && i == 0,
                                                .start_ns = second * kSecond});
        threads_.resize(std::max<size_t>(threads_.size(), i + 1));
        threads_[i] = id;
      }
    }
    return threads_[i];
  }

  void Add(std::vector<SampleCell>& cells, ThreadId thread, StackId stack, ThreadState state,
           uint64_t count) {
    if (count == 0) return;
    const auto time = static_cast<int64_t>(static_cast<double>(count) / kRateHz * kSecond);
    cells.push_back({thread, stack, state, count, time, IsOnCpu(state) ? time : 0});
    samples_ += count;
  }

  uint64_t Poisson(double mean) {
    if (mean > 50) {
      const double draw = std::normal_distribution(mean, std::sqrt(mean))(random_);
      return static_cast<uint64_t>(std::max(std::round(draw), 0.0));
    }
    // Knuth's, with the first factor for the usual case of none.
    const double limit = std::exp(-mean);
    uint64_t count = 0;
    for (double product = Uniform(); product > limit; product *= Uniform()) ++count;
    return count;
  }
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  void Check() const {
    auto reader = ProfileReader::Open(path_);
    if (!reader) Stop(reader.error());
    uint64_t stored = 0, activity = 0;
    int64_t rows = 0, activity_rows = 0;
    Status status = (*reader)->ForEachSample([&](const SampleRow& row) {
      stored += row.cell.count;
      ++rows;
    });
    if (status) {
      status = (*reader)->ForEachActivity([&](const SampleRow& row) {
        activity += row.cell.count;
        ++activity_rows;
      });
    }
    if (!status) Stop(status.error());
    if (stored != samples_ || activity != samples_)
      Stop({ErrorCode::kInternal, fmt::format("of {} samples {} are stored, and {} by thread",
                                              samples_, stored, activity)});
    std::printf("%lld rows by stack, %lld by thread\n", static_cast<long long>(rows),
                static_cast<long long>(activity_rows));
    for (const Diagnostic& note : (*reader)->diagnostics())
      std::printf("%s: %s\n", note.level.c_str(), note.text.c_str());
  }

  const Program& program_;
  const std::filesystem::path path_;
  std::unique_ptr<ProfileWriter> writer_;
  std::mt19937_64 random_{1};
  ProcessId process_ = 0;
  std::vector<StackId> stacks_;
  std::vector<double> shares_;
  std::vector<ThreadId> threads_;
  int last_tid_ = 0;
  uint64_t new_functions_ = 0;
  uint64_t samples_ = 0;
  double commits_s_ = 0, longest_s_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "profile_growth.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;
  int found = 0;
  for (const Program& program : kPrograms) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= std::string(argv[i]) == program.name;
    if (!wanted) continue;
    ++found;
    Recording(program, std::filesystem::path(folder) / program.name).Run();
  }
  std::filesystem::remove_all(folder);
  if (found > 0) return 0;
  std::fprintf(stderr, "usage: profile_growth [PROGRAM...]; there are:");
  for (const Program& program : kPrograms) std::fprintf(stderr, " %s", program.name);
  std::fprintf(stderr, "\n");
  return 2;
}
