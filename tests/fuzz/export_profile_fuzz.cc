// Bytes that claim to be a profile, in every format that profiles are exported to.
#include <cstddef>
#include <cstdint>

#include "export/export.h"
#include "profile/reader.h"

using namespace linescope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader = ProfileReader::FromBytes({data, size}, "input");
  if (!reader) return 0;
  auto profile = (*reader)->Load();
  if (!profile) return 0;
  for (const ExportFormat format :
       {ExportFormat::kCollapsed, ExportFormat::kSpeedscope, ExportFormat::kPprof,
        ExportFormat::kFirefox, ExportFormat::kChromeTrace, ExportFormat::kCallgrind,
        ExportFormat::kJson, ExportFormat::kCsv, ExportFormat::kSvg})
    (void)ExportText(**reader, *profile, format, {.split = StackSplit::kThread});
  return 0;
}
