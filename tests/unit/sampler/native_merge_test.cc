#include "sampler/native_merge.h"

#include <gtest/gtest.h>

#include <string>

namespace linescope {
namespace {

// Native frames leaf first, one letter each: E is the evaluation loop. A frame at place i reaches
// over [100 i, 100 (i + 1)) of the stack; of the last one it is not known how far.
std::vector<NativeStep> Native(const std::string& letters) {
  std::vector<NativeStep> steps;
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool last = i + 1 == letters.size();
    steps.push_back({letters[i] == 'E', 100 * i, last ? 0 : 100 * (i + 1)});
  }
  return steps;
}

// Python frames leaf first: upper case ones are entries. `markers` are the places of the entries'
// evaluation loops.
std::vector<PythonStep> Python(const std::string& letters,
                               const std::vector<size_t>& markers = {}) {
  std::vector<PythonStep> steps;
  size_t entry = 0;
  for (const char letter : letters) {
    PythonStep step{.entry = letter >= 'A' && letter <= 'Z'};
    if (step.entry && entry < markers.size()) step.marker = 100 * markers[entry++] + 50;
    steps.push_back(step);
  }
  return steps;
}

// The merged stack leaf first: native frames as their letters, Python ones in brackets.
std::string Merged(const std::string& native, const std::string& python,
                   const std::vector<size_t>& markers, bool complete, MergeResult expected,
                   KeepRoots roots = KeepRoots::kNo, bool loops_known = true) {
  std::vector<MergedStep> merged;
  const auto steps = Native(native);
  const MergeResult result =
      MergeStacks({.steps = steps, .complete = complete, .loops_known = loops_known},
                  Python(python, markers), roots, &merged);
  EXPECT_EQ(result, expected) << native << " " << python;
  std::string text;
  for (size_t i = merged.size(); i-- > 0;) {
    if (merged[i].native) {
      text += native[merged[i].index];
    } else {
      text += std::string("[") + python[merged[i].index] + "]";
    }
  }
  return text;
}

constexpr auto kMerged = MergeResult::kMerged;
constexpr auto kCut = MergeResult::kCut;
constexpr auto kMismatch = MergeResult::kMismatch;

TEST(MergeStacks, PutsEachRunOfNativeFramesAboveItsCaller) {
  // Before 3.11 each Python frame is an entry.
  EXPECT_EQ(Merged("abEcEdEmn", "ZYX", {}, true, kMerged), "ab[Z]c[Y]d[X]");
  // 3.11: frames that were called inline come with their entry.
  EXPECT_EQ(Merged("abEcEmn", "zyXwV", {}, true, kMerged), "ab[z][y][X]c[w][V]");
  // 3.12+: no symbol is needed.
  EXPECT_EQ(Merged("abxcxmn", "zyXwV", {2, 4}, true, kMerged), "ab[z][y][X]c[w][V]");
}

TEST(MergeStacks, KeepsWhatStartedTheInterpreterOnRequest) {
  EXPECT_EQ(Merged("aEmn", "X", {}, true, kMerged, KeepRoots::kYes), "a[X]mn");
  EXPECT_EQ(Merged("aEmn", "X", {1}, true, kMerged, KeepRoots::kYes), "a[X]mn");
}

TEST(MergeStacks, ThreadWithoutPythonKeepsItsNativeStack) {
  EXPECT_EQ(Merged("abc", "", {}, true, kMerged), "abc");
  EXPECT_EQ(Merged("", "", {}, false, kCut), "");
}

TEST(MergeStacks, LoopThatHasNoFrameYetIsNobodys) {
  EXPECT_EQ(Merged("EaEbEm", "YX", {}, true, kMerged), "Ea[Y]b[X]");
  EXPECT_EQ(Merged("EaEbEm", "YX", {2, 4}, true, kMerged), "Ea[Y]b[X]");
}

TEST(MergeStacks, MismatchKeepsThePythonStackAndItsCallees) {
  EXPECT_EQ(Merged("abEcEm", "ZYX", {}, true, kMismatch), "ab[Z][Y][X]");
  EXPECT_EQ(Merged("abEcEdEfEm", "YX", {}, true, kMismatch), "ab[Y][X]");
  // A marker that no native frame holds.
  EXPECT_EQ(Merged("abEcEm", "YX", {2, 70}, true, kMismatch), "ab[Y][X]");
  // No loop was recognised: nothing says whose callees the native frames are.
  EXPECT_EQ(Merged("abcm", "YX", {}, true, kMismatch), "[Y][X]");
}

TEST(MergeStacks, CutStackIsMergedAsFarAsItIsCertain) {
  // By markers the loops above the cut are known.
  EXPECT_EQ(Merged("abEcEd", "ZYXW", {2, 4, 70, 90}, false, kCut), "ab[Z]c[Y][X][W]");
  EXPECT_EQ(Merged("ab", "YX", {70, 90}, false, kCut), "ab[Y][X]");
  // By count they are not, but what is above the newest one is.
  EXPECT_EQ(Merged("abEcEd", "ZYXW", {}, false, kCut), "ab[Z][Y][X][W]");
  EXPECT_EQ(Merged("ab", "YX", {}, false, kCut), "ab[Y][X]");
  // Where the loop is not recognised, nothing is certain.
  EXPECT_EQ(Merged("ab", "YX", {}, false, kCut, KeepRoots::kNo, false), "[Y][X]");
  EXPECT_EQ(Merged("", "yX", {}, false, kCut), "[y][X]");
}

TEST(MergeStacks, EveryPythonFrameIsThereOnceAndInOrder) {
  // Over all small stacks, whatever they are like.
  for (uint32_t bits = 0; bits < 1 << 12; ++bits) {
    const size_t native_count = bits & 7, python_count = bits >> 3 & 3;
    std::vector<NativeStep> native;
    std::vector<PythonStep> python;
    for (size_t i = 0; i < native_count; ++i) {
      native.push_back({(bits >> (5 + i % 7) & 1) != 0, 100 * i, 100 * (i + 1)});
    }
    for (size_t i = 0; i < python_count; ++i) {
      const bool entry = (bits >> (6 + i) & 1) != 0;
      python.push_back({entry, entry && (bits & 1 << 11) != 0 ? 100 * ((bits >> 8) & 7) + 1 : 0});
    }
    for (const bool complete : {false, true}) {
      std::vector<MergedStep> merged;
      MergeStacks({native, complete, true}, python, KeepRoots::kYes, &merged);
      size_t python_left = python_count, native_left = native_count;
      for (const MergedStep& step : merged) {
        size_t& left = step.native ? native_left : python_left;
        ASSERT_LT(step.index, left) << bits;  // root first: both lists' numbers only fall
        left = step.index;
        if (!step.native) continue;
        ASSERT_LT(step.index, native_count);
      }
      size_t pythons = 0;
      for (const MergedStep& step : merged) pythons += step.native ? 0 : 1;
      ASSERT_EQ(pythons, python_count) << bits;
    }
  }
}

}  // namespace
}  // namespace linescope
