// A report file of unknown origin: finding its parts, base 91, gzip, containers.
#include <cstddef>
#include <cstdint>
#include <string>

#include "report/report_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using linescope::ReportData;
  const auto report = ReportData::Parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!report) return 0;
  for (size_t i = 0; i < report->chunk_count(); ++i) (void)report->Chunk(i);
  return 0;
}
