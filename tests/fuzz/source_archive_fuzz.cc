// The reader of zip archives on any bytes: neither a crash nor more than was allowed.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "source/archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  constexpr uint64_t kLimit = 100'000;
  const ArchiveSpan archive(std::as_bytes(std::span(data, size)));
  for (const char* name : {"m.py", "pkg/__init__.py", ""}) {
    const auto text = ReadArchiveMember(archive, name, kLimit);
    if (text && text->size() > kLimit) abort();
  }
  return 0;
}
