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
  const layout::Table* tables[] = {&layout::kPython311, &layout::kPython312, &layout::kPython313};
  const layout::Table& table = *tables[data[0] % 3];
  const ObjectReader objects(&memory, &table);
  const ReprLimits limits;
  ObjectRepr repr(&objects, layout::ValuesFor(table.minor), limits);
  // No item is begun beyond the limit; the last one is the longest there is, and levels are closed.
  const size_t longest = limits.text + limits.characters * 10 + 500;
  for (const Address object : {kBase, kBase + 8, kBase + 64}) {
    if (repr.Of(object).text.size() > longest) std::abort();
  }
  return 0;
}
