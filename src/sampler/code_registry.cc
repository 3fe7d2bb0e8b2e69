#include "sampler/code_registry.h"

#include <utility>

namespace linescope {

CodeId CodeRegistry::IdOf(const Code& code, uint32_t process) {
  std::string key = std::to_string(code.first_line);
  for (const std::string* part : {&code.file, &code.qualified_name}) {
    key += '\0';
    key += *part;
  }
  const auto [at, added] = ids_.try_emplace(std::move(key), static_cast<CodeId>(ids_.size()));
  if (added) {
    new_.push_back({.process = process,
                    .shim = code.shim,
                    .first_line = code.first_line,
                    .file = code.file,
                    .name = code.name,
                    .qualified_name = code.qualified_name});
  }
  return at->second;
}

std::vector<CodeInfo> CodeRegistry::TakeNew() { return std::exchange(new_, {}); }

}  // namespace linescope
