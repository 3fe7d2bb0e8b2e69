// Any bytes may lie where an object is expected: strings, bytes, dictionaries, integers and thread
// names are read from a memory that is the input.
#include <cstdlib>

#include "process/fake_memory.h"
#include "python/dict_reader.h"
#include "python/thread_names.h"

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
  DictReader dicts(&objects);
  // A byte of storage is at most three of UTF-8.
  if (const auto text = objects.Str(kBase); text && text->size() > 3 * size) std::abort();
  if (const auto bytes = objects.Bytes(kBase); bytes && bytes->size() > size) std::abort();
  if (const auto name = objects.TypeName(kBase); name && name->size() > 255) std::abort();
  dicts.Int(kBase);
  dicts.Find(kBase, "threading");
  dicts.Attribute(kBase + 64, "_name");
  ReadThreadNames(&memory, table, kBase);
  return 0;
}
