// Bytes that claim to be a profile: the reader gives an error or a profile that can be used,
// whatever they are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/collapsed.h"
#include "profile/reader.h"
#include "profile/stats.h"

using namespace linescope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader = ProfileReader::FromBytes({data, size}, "input");
  if (!reader) return 0;
  for (Weight weight : {Weight::kWall, Weight::kCpu}) {
    auto profile = (*reader)->Load(weight);
    if (!profile) continue;
    // Costs of parts never exceed the whole.
    for (const LineStats& line : profile->lines)
      if (line.inclusive.samples > profile->total.samples) std::abort();
    (void)TopLines(*profile, {.limit = 10, .project_only = false});
    (void)TopFunctions(*profile, {});
    (void)CollapsedText(*profile, SplitTitles(**reader, StackSplit::kThread));
  }
  // What is spread over time adds up, and over no more time than there can be.
  const auto check = [](const SampleRow& row) {
    uint64_t samples = 0;
    if (row.buckets > kMaxRowBuckets) std::abort();
    ForEachBucket(row, [&](int64_t, const Cost& cost) { samples += cost.samples; });
    if (samples != row.cell.count) std::abort();
  };
  (void)(*reader)->ForEachSample(check);
  (void)(*reader)->ForEachActivity(check);
  for (SourceId id = 0; id < (*reader)->sources().size(); ++id) (void)(*reader)->SourceText(id);
  return 0;
}
