// Any bytes may lie where a value is expected, and where its type is: what is shown stays bounded.
#include <cstdlib>

#include "process/fake_memory.h"
#include "python/locals_repr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  if (size < 2 || size > 1 << 16) return 0;
  constexpr Address kBase = 0x10000;
  FakeMemory memory;
  memory.Write(kBase, std::as_bytes(std::span(data + 1, size - 1)));
  layout::Table table = *layout::kTables[data[0] % layout::kTables.size()];
  if ((data[0] & 0x80) != 0) {
    table = table.minor < 13 ? WithTracedReferences(table) : WithFreeThreading(table);
  }
  const ObjectReader objects(&memory, &table);
  const ReprLimits limits;
  ObjectRepr repr(&objects, limits);
  // No item is begun beyond the limit; the last one is the longest there is, and levels are closed.
  const size_t longest = limits.text + limits.characters * 10 + 500;
  for (const Address object : {kBase, kBase + 8, kBase + 64}) {
    if (repr.Of(object).text.size() > longest) std::abort();
  }
  return 0;
}
