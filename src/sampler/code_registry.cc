#include "sampler/code_registry.h"

#include <fmt/format.h>

#include <utility>

namespace linescope {

CodeId CodeRegistry::IdOf(const Code& code, uint32_t process) {
  return IdOf({.process = process,
               .shim = code.shim,
               .first_line = code.first_line,
               .file = code.file,
               .name = code.name,
               .qualified_name = code.qualified_name});
}

CodeId CodeRegistry::IdOf(CodeInfo info) {
  std::string key = fmt::format("{} {}", static_cast<int>(info.kind), info.first_line);
  for (const std::string* part : {&info.file, &info.qualified_name}) {
    key += '\0';
    key += *part;
  }
  const auto [at, added] = ids_.try_emplace(std::move(key), static_cast<CodeId>(ids_.size()));
  if (added) new_.push_back(std::move(info));
  return at->second;
}

std::vector<CodeInfo> CodeRegistry::TakeNew() { return std::exchange(new_, {}); }

}  // namespace linescope
