// The ELF reader on any bytes: headers, sections, symbols by each table, load bias.
#include <cstddef>
#include <cstdint>
#include <span>

#include "process/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  const auto bytes = std::as_bytes(std::span(data, size));
  const Mapping mappings[] = {
      {.start = 0x7f0000000000, .end = 0x7f0000001000, .offset = 0, .path = "/x"},
      {.start = 0x7f0000003000, .end = 0x7f0000004000, .offset = 0x2000, .path = "/x"}};
  if (const auto file = ElfFile::Open(ElfSourceFromBytes(bytes), "input")) {
    (void)file->FindSymbol("_PyRuntime");
    (void)file->FindSymbol("");
    (void)file->FindSection(".PyRuntime");
    (void)file->LoadBias(mappings);
  }
  // As what a process has mapped, where addresses may be the process's.
  if (const auto file = ElfFile::OpenLoaded(ElfSourceFromBytes(bytes), "input", mappings)) {
    (void)file->FindSymbol("_PyRuntime");
    (void)file->FindSection(".PyRuntime");
  }
  return 0;
}
