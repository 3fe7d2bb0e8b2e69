#include "cli/top_sources.h"

#include "source/snapshot.h"

namespace linescope {

// Files above are generated, and would only be slow to read.
static constexpr uint64_t kSizeLimit = 8'000'000;

void TopSources::SetProcess(int pid, std::string working_directory) {
  pid_ = pid;
  working_directory_ = std::move(working_directory);
}

void TopSources::Add(const SourceSnapshot& snapshot) {
  texts_.insert_or_assign(snapshot.path, DecodeSource(snapshot.text));
}

const SourceText& TopSources::Of(const std::string& file) {
  const auto known = texts_.find(file);
  if (known != texts_.end()) return known->second;
  Add(TakeSnapshot({.file = file,
                    .pid = pid_,
                    .working_directory = working_directory_,
                    .size_limit = kSizeLimit}));
  return texts_[file];
}

}  // namespace linescope
