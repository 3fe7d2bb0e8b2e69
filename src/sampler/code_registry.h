#pragma once
// The code objects of all processes of a run, and what else has frames, under one numbering: the
// same function in two processes, or read twice, is one code.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/model.h"
#include "python/code_cache.h"

namespace linescope {

// What is stored of a code object, or of what else a frame stands for. `process` is the sampler's
// number of the one that showed it first.
struct CodeInfo {
  uint32_t process = 0;
  FunctionKind kind = FunctionKind::kPython;
  bool shim = false;
  int32_t first_line = 0;
  std::string file, name, qualified_name;
};

// Grows with the distinct functions of the run, not with its processes. One thread.
class CodeRegistry {
 public:
  CodeId IdOf(const Code& code, uint32_t process);
  CodeId IdOf(CodeInfo info);
  // Those that are new since the last call; their ids follow those of the call before.
  std::vector<CodeInfo> TakeNew();

 private:
  std::unordered_map<std::string, CodeId> ids_;
  std::vector<CodeInfo> new_;
};

}  // namespace linescope
