// The ELF reader on any bytes: headers, sections, symbols by each table, load bias.
#include <cstddef>
#include <cstdint>
#include <span>

#include "process/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  const auto file =
      ElfFile::Open(ElfSourceFromBytes(std::as_bytes(std::span(data, size))), "input");
  if (!file) return 0;
  (void)file->FindSymbol("_PyRuntime");
  (void)file->FindSymbol("");
  (void)file->FindSection(".PyRuntime");
  const Mapping mappings[] = {
      {.start = 0x7f0000000000, .end = 0x7f0000001000, .offset = 0, .path = "/x"},
      {.start = 0x7f0000003000, .end = 0x7f0000004000, .offset = 0x2000, .path = "/x"}};
  (void)file->LoadBias(mappings);
  return 0;
}
