#pragma once
// The parts of a report that the page unzips only when they are looked at (DATA.md section 2).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/report_model.h"

namespace linescope {

struct ReportChunks {
  std::vector<std::string> text;               // as they stand in the file, base 91
  std::optional<uint32_t> functions;           // number of the functions chunk
  std::optional<uint32_t> callers;             // number of the callers chunk
  std::vector<std::optional<uint32_t>> files;  // by file: number of the chunk with its source
  std::optional<uint32_t> calls;               // number of the call tree's chunk
  std::vector<uint32_t> samples;               // numbers of the chunks with its cells, in order
};

// Encodes and compresses with up to `threads` threads (0: as many as there are CPUs). The result
// does not depend on their number.
ReportChunks BuildChunks(const ReportModel& model, unsigned threads);

// The unzipped containers, for tests and for BuildChunks.
std::string FunctionsContainer(const ReportModel& model);
std::string CallersContainer(const CallGraph& calls);
std::string SourcesContainer(const ReportModel& model, const std::vector<uint32_t>& files);

// Metrics of the sampler in the order of the flags in `m.missing`.
const std::vector<std::string>& MetricColumns();

}  // namespace linescope
