// The unzipped part of a report, which a checksum does not guard against intent.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "report/report_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using linescope::ReportContainer;
  const auto container =
      ReportContainer::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!container) return 0;
  for (const std::string& name : container->Names()) {
    for (size_t row = 0; row < 8; ++row) {
      (void)container->StringAt(name, row);
      (void)container->VarintsAt(name, row);
      (void)container->WideVarintsAt(name, row);
    }
  }
  return 0;
}
