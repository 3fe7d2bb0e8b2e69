// The readers of /proc's text files on any bytes: the first one chooses the reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "process/maps.h"
#include "process/modules.h"
#include "process/procfs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace linescope;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'm':
      if (const auto maps = ParseMaps(text)) {
        for (const Mapping& mapping : *maps) {
          if (mapping.end <= mapping.start) __builtin_trap();
        }
        for (const Module& module : GroupModules(*maps)) {
          if (module.mappings.empty()) __builtin_trap();
        }
      }
      break;
    case 's':
      (void)ParseStat(text);
      break;
    case 'u':
      (void)ParseStatus(text);
      break;
    default:
      (void)ParseCommandLine(text);
  }
  return 0;
}
