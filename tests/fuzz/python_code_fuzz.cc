// Any bytes may lie where a code object is expected, and where it says that its bytecode's copies
// are.
#include <cstdlib>

#include "process/fake_memory.h"
#include "python/code_cache.h"
#include "python/target_words.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  if (size < 10 || size > 1 << 16) return 0;
  constexpr Address kBase = 0x10000;
  FakeMemory memory;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  memory.Write(kBase, bytes);
  layout::Table table = *layout::kTables[data[0] % layout::kTables.size()];
  if ((data[0] & 0x80) != 0) {
    table = table.minor < 13 ? WithTracedReferences(table) : WithFreeThreading(table);
    if (table.minor >= 14) {  // as such builds' own tables of offsets have it
      table.code.copies = 224;
      table.code.bytecode = 232;
    }
  }
  CodeCache codes(&memory, &table);
  Code* code = codes.Load(kBase, 1);
  if (code == nullptr) return 0;
  if (code->units * size_t{2} > size || code->flags.size() != code->units) std::abort();
  codes.ReadCopies(code, 2);
  if (code->copies.size() * 8 > size) std::abort();
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const auto instr = Load<Address>(bytes.data() + at);
    const Address own = code->OwnInstr(static_cast<uint32_t>(at / 8), instr);
    if (at / 8 != 0 && own != 0 && !code->Contains(own)) std::abort();
    if (code->Contains(own)) (void)code->RangeAt(code->UnitOf(own));
  }
  if (!codes.Verify(code, 3)) std::abort();
  return 0;
}
