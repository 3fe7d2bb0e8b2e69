#pragma once
// A table of samples in the database of a profile that is being recorded: `sample`, or
// `thread_activity`, which has no stacks. FORMAT.md describes both. Internal to the writer.
//
// Rows are put into it as they come. Only when it has grown by half is it read, made small again
// (see sample_rows.h), and written anew in one go: so each row is written a few times at most, and
// the size of the table is that of what it says and not of how long the run was.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/sqlite.h"

namespace linescope {

class SampleTable {
 public:
  enum class Kind : uint8_t { kStacks, kActivity };

  struct Limits {
    // Rows are joined in time at this precision, and at a lower one as there would be more `rows`.
    double precision;
    int64_t rows;
    // More rows than this cannot be for want of time to join: rare stacks are folded then.
    int64_t keys;
  };

  // What Add has to know besides the rows.
  struct Moment {
    // By how much buckets are wider now than those that are stored, which become n / widening.
    int64_t widening;
    int64_t last_bucket;  // is still being filled
    std::function<StackId(StackId)> parent_of;
  };

  SampleTable(Kind kind, const Limits& limits)
      : kind_(kind), limits_(limits), state_{.precision = limits.precision} {}

  // `database` outlives what is prepared, which Close lets go of.
  Status Prepare(const Database* database);
  void Close();

  // Adds `rows` to what is stored, in the transaction that is open; they come in the order of the
  // table's key. May be repeated in another transaction when this one fails.
  Status Add(const std::vector<SampleRow>& rows, const Moment& moment);
  // The transaction of the last Add is through.
  void Committed() { state_ = next_; }
  // Whether samples of rare stacks were moved to their callers, as of the last Add.
  [[nodiscard]] bool folded() const { return next_.folded; }

 private:
  // Less is not worth writing the table anew for.
  static constexpr int64_t kFewRows = 8192;

  struct State {
    int64_t rows = 0;  // stored, at most
    int64_t full_at = kFewRows;
    double precision = 0;
    bool folded = false;
  };

  Result<bool> WouldBeFull(int64_t added);
  Status Put(const SampleRow& row);
  Result<std::vector<SampleRow>> Read(int64_t widening) const;
  Status Rewrite(std::vector<SampleRow> rows, const Moment& moment);

  const Kind kind_;
  const Limits limits_;
  const Database* database_ = nullptr;
  Statement put_;
  State state_, next_;  // committed, and in the transaction that is open
};

}  // namespace linescope
