#include "sampler/native_merge.h"

#include <algorithm>

namespace linescope {
namespace {

// For each entry, leaf first, the native frame of its evaluation loop, as far as known; false: they
// do not fit.
bool PairByMarkers(std::span<const NativeStep> native, bool complete,
                   std::span<const PythonStep> python, std::vector<size_t>* loops) {
  size_t at = 0;
  for (const PythonStep& step : python) {
    if (!step.entry) continue;
    while (at < native.size() &&
           !(native[at].low <= step.marker && step.marker < native[at].high)) {
      ++at;
    }
    if (at == native.size()) return !complete;
    loops->push_back(at++);
  }
  return true;
}

bool PairByCount(std::span<const NativeStep> native, bool complete,
                 std::span<const PythonStep> python, std::vector<size_t>* loops) {
  // Without the root it is not known whether the newest loop has a frame yet.
  if (!complete) return true;
  const auto entries = static_cast<size_t>(std::ranges::count(python, true, &PythonStep::entry));
  for (size_t i = 0; i < native.size(); ++i) {
    if (native[i].eval) loops->push_back(i);
  }
  // The newest one is about to link its frame, or has just taken it off.
  if (loops->size() == entries + 1) loops->erase(loops->begin());
  if (loops->size() == entries) return true;
  loops->clear();
  return false;
}

}  // namespace

MergeResult MergeStacks(const NativeSteps& stack, std::span<const PythonStep> python,
                        KeepRoots roots, std::vector<MergedStep>* merged) {
  const auto& [native, complete, loops_known] = stack;
  merged->clear();
  const bool has_markers =
      std::ranges::any_of(python, [](const PythonStep& step) { return step.marker != 0; });
  std::vector<size_t> loops;
  const bool fits = has_markers ? PairByMarkers(native, complete, python, &loops)
                                : PairByCount(native, complete, python, &loops);
  const auto entries = static_cast<size_t>(std::ranges::count(python, true, &PythonStep::entry));
  auto add_native = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) merged->push_back({true, static_cast<uint32_t>(i)});
  };
  // Leaf first, and turned round at the end.
  size_t next = 0;
  if (python.empty()) {
    add_native(0, native.size());
  } else if (loops.empty()) {
    // What is above the newest evaluation loop is called by the newest Python frame.
    const auto loop = std::ranges::find(native, true, &NativeStep::eval);
    const bool certain = loop != native.end() || (!complete && (has_markers || loops_known));
    if (certain) add_native(0, static_cast<size_t>(loop - native.begin()));
  }
  size_t group = 0;
  bool begins = true;
  for (size_t i = 0; i < python.size(); ++i) {
    if (begins && group < loops.size()) {
      add_native(next, loops[group]);
      next = loops[group] + 1;
    }
    begins = python[i].entry;
    merged->push_back({false, static_cast<uint32_t>(i)});
    if (begins) ++group;
  }
  if (roots == KeepRoots::kYes && complete && fits && entries > 0 && loops.size() == entries) {
    add_native(next, native.size());
  }
  std::ranges::reverse(*merged);
  if (!fits) return MergeResult::kMismatch;
  return complete ? MergeResult::kMerged : MergeResult::kCut;
}

}  // namespace linescope
