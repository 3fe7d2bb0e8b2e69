// Names: of any bytes as a symbol, as the text of /proc/PID/task/TID/syscall, and as an ELF file's
// symbols.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "native/demangle.h"
#include "native/registers.h"
#include "native/symbolizer.h"

// libdw 0.188 forgets 32 bytes of what it has read of some damaged files.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libdw.so\n"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!text.starts_with("\x7f"
                        "ELF")) {
    (void)Demangle(text.substr(0, text.find('\0')));
    (void)CythonName(text);
    (void)ParseBlockedRegisters(text);
    return 0;
  }
  UniqueFd file(::memfd_create("symbols", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  (void)FindFunctions(file.get(), [](std::string_view name) { return name.size() > 3; });
  auto symbols = SymbolFile::Open(std::move(file), "/fuzzed", {});
  if (!symbols) return 0;
  for (const uint64_t address :
       {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x1139}, uint64_t{0x401000}}) {
    if ((*symbols)->At(address).empty()) __builtin_trap();
  }
  return 0;
}
