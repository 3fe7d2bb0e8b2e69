#pragma once
// Samples that wait for the next commit, merged by (bucket, thread, stack, state), and the width of
// the buckets. The width starts fine and doubles whenever the run would need more than
// kMaxBuckets, so that what is stored depends on distinct stacks and not on the run's length.
// A failing disk costs no more memory than that either: see Replace.
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "profile/model.h"
#include "profile/profile.h"

namespace linescope {

class SampleBuffer {
 public:
  static constexpr int64_t kFirstWidthNs = 100'000'000;
  static constexpr int64_t kMaxBuckets = 600;

  // Samples taken in [begin_ns, …) since the start of the run; all go to the bucket of begin_ns.
  void Add(int64_t begin_ns, std::span<const SampleCell> cells);
  // Doubles the width: the bucket n becomes n / 2, and equal keys are added up.
  void Widen();
  // Everything added since Clear, in no order.
  [[nodiscard]] std::vector<SampleRow> Rows() const;
  void Clear() { cells_.clear(); }
  // Has `rows`, which say the same in fewer, instead of what was added since Clear.
  void Replace(const std::vector<SampleRow>& rows);

  [[nodiscard]] int64_t width_ns() const { return width_ns_; }
  [[nodiscard]] int64_t last_bucket() const { return last_bucket_; }
  [[nodiscard]] size_t size() const { return cells_.size(); }

 private:
  struct Key {
    int64_t bucket;
    ThreadId thread;
    StackId stack;
    ThreadState state;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  struct Cell {
    Cost cost;
    int64_t buckets = 1;
  };

  std::unordered_map<Key, Cell, KeyHash> cells_;
  int64_t width_ns_ = kFirstWidthNs;
  int64_t last_bucket_ = -1;  // the highest ever seen, in the present width
};

}  // namespace linescope
