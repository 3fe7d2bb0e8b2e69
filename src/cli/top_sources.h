#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "profile/model.h"
#include "source/text.h"

namespace linescope {

// The source text behind the lines of a live view: of the project's files as they were when first
// seen, of others as they are when first shown.
class TopSources {
 public:
  // The process whose file system is meant.
  void SetProcess(int pid, std::string working_directory);
  void Add(const SourceSnapshot& snapshot);
  // Empty text: unavailable.
  const SourceText& Of(const std::string& file);

 private:
  int pid_ = 0;
  std::string working_directory_;
  std::map<std::string, SourceText> texts_;
};

}  // namespace linescope
