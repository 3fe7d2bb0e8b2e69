#include "profile/sample_table.h"

#include <fmt/format.h>

#include <utility>

#include "profile/sample_rows.h"
#include "profile/schema.h"

namespace linescope {
namespace {

const char* NameOf(SampleTable::Kind kind) {
  return kind == SampleTable::Kind::kStacks ? "sample" : "thread_activity";
}

}  // namespace

Status SampleTable::Prepare(const Database* database) {
  database_ = database;
  const bool stacks = kind_ == Kind::kStacks;
  LS_TRY(put, database->Prepare(fmt::format(
                  "INSERT INTO {} (bucket, thread, state, count, wall_ns, cpu_ns, buckets{})"
                  " VALUES (?, ?, ?, ?, ?, ?, ?{}) ON CONFLICT DO UPDATE SET"
                  " count = count + excluded.count, wall_ns = wall_ns + excluded.wall_ns,"
                  " cpu_ns = cpu_ns + excluded.cpu_ns, buckets = max(buckets, excluded.buckets)",
                  NameOf(kind_), stacks ? ", stack" : "", stacks ? ", ?" : "")));
  put_ = std::move(put);
  return {};
}

void SampleTable::Close() {
  put_ = {};
  database_ = nullptr;
}

Status SampleTable::Put(const SampleRow& row) {
  const SampleCell& cell = row.cell;
  const auto state = static_cast<int>(cell.state);
  if (kind_ == Kind::kActivity)
    return put_.Run(row.bucket, cell.thread, state, cell.count, cell.wall_ns, cell.cpu_ns,
                    row.buckets);
  const int64_t stack = cell.stack == kNoStack ? kStoredNoStack : int64_t{cell.stack};
  return put_.Run(row.bucket, cell.thread, state, cell.count, cell.wall_ns, cell.cpu_ns,
                  row.buckets, stack);
}

Result<std::vector<SampleRow>> SampleTable::Read(int64_t widening) const {
  std::vector<SampleRow> rows;
  LS_TRY(row,
         database_->Prepare(fmt::format("SELECT bucket, thread, state, count, wall_ns, cpu_ns,"
                                        " buckets, {} FROM {}",
                                        kind_ == Kind::kStacks ? "stack" : "-1", NameOf(kind_))));
  while (true) {
    LS_TRY(more, row.Step());
    if (!more) return rows;
    const int64_t stack = row.Int(7);
    rows.push_back(
        {.bucket = row.Int(0),
         .cell = {.thread = static_cast<ThreadId>(row.Int(1)),
                  .stack = stack == kStoredNoStack ? kNoStack : static_cast<StackId>(stack),
                  .state = static_cast<ThreadState>(row.Int(2)),
                  .count = static_cast<uint64_t>(row.Int(3)),
                  .wall_ns = row.Int(4),
                  .cpu_ns = row.Int(5)},
         .buckets = row.Int(6)});
    Widen(rows.back(), widening);
  }
}

// Rows that were added to a bucket's have been counted as if they were new: what is stored is only
// counted when that seems to be too much.
Result<bool> SampleTable::WouldBeFull(int64_t added) {
  if (state_.rows + added <= state_.full_at) return false;
  LS_TRY(rows, database_->QueryInt(fmt::format("SELECT count(*) FROM {}", NameOf(kind_))));
  state_.rows = rows.value_or(0);
  return state_.rows + added > state_.full_at;
}

Status SampleTable::Add(const std::vector<SampleRow>& rows, const Moment& moment) {
  const auto added = static_cast<int64_t>(rows.size());
  LS_TRY(full, WouldBeFull(added));
  next_ = state_;
  if (moment.widening == 1 && !full) {
    for (const SampleRow& row : rows) LS_CHECK_OK(Put(row));
    next_.rows += added;
    return {};
  }
  LS_TRY(all, Read(moment.widening));
  all.insert(all.end(), rows.begin(), rows.end());
  return Rewrite(std::move(all), moment);
}

Status SampleTable::Rewrite(std::vector<SampleRow> rows, const Moment& moment) {
  AddUpEqualRows(rows);
  // Room for what comes until the next time.
  const int64_t most = limits_.rows * 2 / 3;
  // What had to be coarse may be so no more: the same noise is less of a longer run.
  next_.precision =
      JoinToFit(rows, most, std::min(2 * state_.precision, limits_.precision), moment.last_bucket);
  if (kind_ == Kind::kStacks && static_cast<int64_t>(rows.size()) > limits_.keys) {
    FoldRareStacks(rows, limits_.keys / 2, moment.last_bucket, moment.parent_of);
    next_.folded = true;
  }
  SortByTime(rows);
  // In the order of the key, which packs the pages.
  LS_CHECK_OK(database_->Execute(fmt::format("DELETE FROM {}", NameOf(kind_))));
  for (const SampleRow& row : rows) LS_CHECK_OK(Put(row));
  next_.rows = static_cast<int64_t>(rows.size());
  next_.full_at = next_.rows + std::max(kFewRows, next_.rows / 2);
  return {};
}

}  // namespace linescope
