#pragma once
// Who calls whom, from measured stacks: of every function its callers and what it calls, each with
// the line of the call, time and samples.
//
// Between two functions of the project library code may stand; the call then belongs to the line
// of the outer one. So what a function's total time consists of adds up: its own code, the
// library functions that it calls directly (as far as they are not on the way to other functions
// of the project), and functions of the project. A stack counts once for a call however often the
// call recurs in it.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace linescope {

inline constexpr uint32_t kNoCaller = UINT32_MAX;

// A function that is not the project's.
struct OutsideFunction {
  std::string name;  // qualified
  std::string file;  // "json/encoder.py"; of machine code its library
  FunctionKind kind = FunctionKind::kPython;
  bool operator==(const OutsideFunction&) const = default;
};

// One call: the other function and the line of the caller.
struct CallEdge {
  uint32_t function = kNoCaller;  // a function of the report; from `functions` on: `outside`;
                                  // kNoCaller: nobody calls it, it is the first of its stacks
  uint32_t line = 0;              // of the caller; 0: unknown
  bool direct = true;             // false: through library code
  uint64_t samples = 0;
  int64_t time_ns = 0;
  bool operator==(const CallEdge&) const = default;
};

struct CallGraph {
  uint32_t functions = 0;
  std::vector<OutsideFunction> outside;
  // Rows of groups by function, most time first.
  std::vector<uint32_t> caller_start = {0}, callee_start = {0};
  std::vector<CallEdge> callers, callees;

  std::span<const CallEdge> CallersOf(uint32_t function) const;
  std::span<const CallEdge> CalleesOf(uint32_t function) const;
};

// `rows`: the report's function of each FunctionId of the profile, kNoCaller where there is none.
// `functions`: how many the report has.
CallGraph BuildCallGraph(const Profile& profile, const std::vector<uint32_t>& rows,
                         size_t functions);

}  // namespace linescope
