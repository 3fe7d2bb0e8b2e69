// Records a tape: tape_record PID OUT [SAMPLES]. Stops the target for each sample, so that the
// exact stacks are true; it runs on for some milliseconds in between and afterwards.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "process/tape.h"
#include "python/runtime.h"
#include "tapes/walk.h"

namespace linescope {
namespace {

// SIGSTOP takes effect some microseconds after it was sent.
void Stop(int pid) {
  ::kill(pid, SIGSTOP);
  ::usleep(20'000);
}

// Reads all of every thread's data stack, also what no walk of today asks for: so the tape serves
// walks that plan their reads differently.
void ReadWholeStacks(RemoteMemory* memory, const layout::Table& table, Address runtime) {
  if (table.liveness == layout::Liveness::kObject) return;  // a walk reads all there is
  ThreadList list;
  if (!ReadThreadList(memory, table, runtime, &list)) return;
  for (const PythonThread& thread : list.threads) {
    Address chunk = 0;
    memory->ReadValue(thread.tstate + table.thread.chunk, &chunk);
    for (int count = 0; chunk != 0 && count < 16; ++count) {
      Address header[2];  // previous, size
      if (!memory->ReadValue(chunk, &header) || header[1] > (1 << 20)) break;
      std::vector<std::byte> bytes(header[1]);
      memory->ReadExact(chunk, bytes.data(), bytes.size());
      chunk = header[0];
    }
  }
}

Status Record(int pid, const char* path, int samples) {
  LS_TRY(live, OpenRemoteMemory(pid));
  LS_TRY(runtime, FindRuntime(pid, live.get()));
  TapeRecorder recorder(*live);
  Stop(pid);
  const bool traced = runtime.table.minor < 13 && runtime.table.extra_head != 0;
  auto table = ReadTable(&recorder, runtime.version, runtime.address, traced);
  if (table) {
    ReadWholeStacks(&recorder, *table, runtime.address);
    for (const auto& [key, value] : WalkStacks(&recorder, *table, runtime.address, samples, [&] {
           ::kill(pid, SIGCONT);
           ::usleep(5'000);
           Stop(pid);
           ReadWholeStacks(&recorder, *table, runtime.address);
         })) {
      recorder.tape().SetFact("walk." + key, value);
    }
  }
  ::kill(pid, SIGCONT);
  if (!table) return std::unexpected(table.error());
  recorder.tape().SetFact("python", fmt::format("{:#x}", runtime.version.hex));
  recorder.tape().SetFact("runtime", fmt::format("{:#x}", runtime.address));
  if (traced) recorder.tape().SetFact("traced", "1");
  recorder.tape().SetFact("samples", std::to_string(samples));
  return recorder.tape().Save(path);
}

}  // namespace
}  // namespace linescope

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fmt::print(stderr, "usage: tape_record PID OUT [SAMPLES]\n");
    return 2;
  }
  const auto status =
      linescope::Record(std::atoi(argv[1]), argv[2], argc == 4 ? std::atoi(argv[3]) : 6);
  if (!status) fmt::print(stderr, "tape_record: {}\n", status.error().what);
  return status ? 0 : 1;
}
