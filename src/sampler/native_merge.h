#pragma once
// Puts a thread's native frames between its Python frames.
//
// Facts of the interpreter: each call of its evaluation loop (_PyEval_EvalFrameDefault) runs a
// Python frame, the entry, and from 3.11 on also those that it calls inline. From 3.12 on that call
// keeps a marker in its own C frame, to which the entry's `previous` points: so the two are found
// together without any symbol. Before, the calls of the loop are known by their addresses, and
// there must be as many of them as entries.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace linescope {

// A physical native frame, as far as merging goes.
struct NativeStep {
  bool eval = false;           // the code is the evaluation loop's
  uint64_t low = 0, high = 0;  // its part of the stack; high 0: not known
};
// A Python frame.
struct PythonStep {
  bool entry = false;   // an evaluation loop began with it
  uint64_t marker = 0;  // of an entry: in the C frame of that loop; 0: there is none (before 3.12)
};

struct MergedStep {
  bool native = false;
  uint32_t index = 0;  // in the list that it is from
  bool operator==(const MergedStep&) const = default;
};

enum class MergeResult : uint8_t {
  kMerged,
  kCut,       // the native stack ends early: where it is known, it is merged, below that it is not
  kMismatch,  // the two do not fit: the Python stack, and above it what is certainly its callees
};

// Whether what lies below the first Python frame, which only started the interpreter, is kept.
enum class KeepRoots : bool { kNo, kYes };

// A native stack, leaf first.
struct NativeSteps {
  std::span<const NativeStep> steps;
  bool complete = false;     // it is known to its root
  bool loops_known = false;  // where the evaluation loop's code lies: no `eval` means none
};

// `python` is leaf first. What comes out is root first. All Python frames are in it, whatever the
// native ones are like.
MergeResult MergeStacks(const NativeSteps& native, std::span<const PythonStep> python,
                        KeepRoots roots, std::vector<MergedStep>* merged);

}  // namespace linescope
