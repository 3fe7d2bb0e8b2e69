// Tapes of any bytes. Those that parse are written, parsed again and replayed. A mutated file fails
// its checksum, so the input is taken as a body, too, and packed rightly.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "process/tape.h"

namespace linescope {
namespace {

void Replay(const Tape& tape) {
  const auto again = Tape::Parse(tape.Serialize());
  if (!again || again->records.size() != tape.records.size()) __builtin_trap();
  TapeMemory memory(tape);
  std::vector<std::byte> out;
  for (const Tape::Record& record : tape.records) {
    size_t total = 0;
    for (const RemoteRange& range : record.ranges) total += range.size;
    if (total > (1 << 20)) continue;
    out.resize(total + 1);
    if (memory.Read(record.ranges, out.data()) != record.result) __builtin_trap();
  }
  // One byte more than was recorded: answered from the image, or by another record, which moves on
  // to it. So not in between.
  for (const Tape::Record& record : tape.records) {
    if (record.ranges.empty() || record.ranges[0].size > (1 << 20)) continue;
    const RemoteRange longer{record.ranges[0].address, record.ranges[0].size + 1};
    out.resize(longer.size);
    (void)memory.Read({&longer, 1}, out.data());
  }
}

}  // namespace
}  // namespace linescope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto tape = Tape::Parse(input)) Replay(*tape);
  if (const auto tape = Tape::Parse(PackTapeBody(input))) Replay(*tape);
  return 0;
}
