// A report file of unknown origin as a side of a comparison, with itself.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compare/comparison.h"
#include "report/report_data.h"

using namespace linescope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto report = ReportData::Parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!report) return 0;
  const auto run = RunDataOf(*report);
  if (run) (void)Compare(*run, *run);
  return 0;
}
