// Whatever bytes the target holds, a walk ends, in bounded memory, with an answer. The inputs are
// mutations of the tapes: which tape, and then which byte of what was read becomes what.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "../tapes/walk.h"
#include "process/tape.h"
#include "support/test_data.h"

namespace linescope {
namespace {

struct Base {
  Tape tape;
  PythonVersion version = {};
  Address runtime = 0;
  bool traced = false;
  size_t bytes = 0;
};

const std::vector<Base>& Bases() {
  static const std::vector<Base> bases = [] {
    std::vector<Base> found;
    const auto folder = TestData("tapes");
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".tape") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      Base base{.tape = *Tape::Load(path)};
      base.version = PythonVersion::FromHex(
          static_cast<uint32_t>(std::stoul(*base.tape.Fact("python"), nullptr, 16)));
      base.runtime = std::stoull(*base.tape.Fact("runtime"), nullptr, 16);
      base.traced = base.tape.Fact("traced").has_value();
      for (const Tape::Record& record : base.tape.records) base.bytes += record.bytes.size();
      found.push_back(std::move(base));
    }
    return found;
  }();
  return bases;
}

// A byte of all that was read, counted through all records.
std::byte* ByteAt(Tape* tape, size_t index) {
  for (Tape::Record& record : tape->records) {
    if (index < record.bytes.size()) return &record.bytes[index];
    index -= record.bytes.size();
  }
  return nullptr;
}

}  // namespace
}  // namespace linescope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  if (size < 1 || Bases().empty()) return 0;
  const Base& base = Bases()[data[0] % Bases().size()];
  Tape tape = base.tape;
  for (size_t i = 1; i + 4 <= size && i < 400; i += 4) {
    const size_t index = data[i] | size_t{data[i + 1]} << 8 | size_t{data[i + 2]} << 16;
    *ByteAt(&tape, index % base.bytes) = std::byte{data[i + 3]};
  }
  TapeMemory memory(std::move(tape));
  const auto table = ReadTable(&memory, base.version, base.runtime, base.traced);
  if (!table) return 0;
  WalkStacks(&memory, *table, base.runtime, 4, [] {});
  return 0;
}
