#include "profile/sample_rows.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace linescope {
namespace {

// In the table no stack is -1, and comes first.
StackId StackOrder(const SampleRow& row) { return row.cell.stack + 1; }

auto TimeOrder(const SampleRow& row) {
  return std::tuple(row.bucket, row.cell.thread, StackOrder(row), row.cell.state);
}

auto KeyOf(const SampleRow& row) {
  return std::tuple(row.cell.thread, StackOrder(row), row.cell.state);
}

void AddTo(SampleRow& sum, const SampleRow& row) {
  sum.cell.count += row.cell.count;
  sum.cell.wall_ns += row.cell.wall_ns;
  sum.cell.cpu_ns += row.cell.cpu_ns;
}

// The samples of `rows`, in the buckets from the first to the last of them.
SampleRow Joined(std::span<const SampleRow> rows) {
  SampleRow joined = rows.front();
  for (const SampleRow& row : rows.subspan(1)) {
    AddTo(joined, row);
    joined.buckets = std::max(joined.buckets, row.bucket + row.buckets - joined.bucket);
  }
  return joined;
}

// How many samples leave the time that they were known to be in when `rows` become `joined`.
double Moved(std::span<const SampleRow> rows, const SampleRow& joined) {
  const auto as_double = [](auto value) { return static_cast<double>(value); };
  const double density = as_double(joined.cell.count) / as_double(joined.buckets);
  double moved = 0;
  for (const SampleRow& row : rows)
    moved += std::max(as_double(row.cell.count) - density * as_double(row.buckets), 0.0);
  return moved;
}

// Joins rows of one key, those in small blocks of time before those in large ones, at the front of
// `rows`; returns how many are left.
size_t JoinKey(std::span<SampleRow> rows, double most_moved) {
  size_t left = rows.size();
  for (int64_t size = 2; size <= kMaxRowBuckets && left > 1; size *= 2) {
    size_t kept = 0;
    for (size_t i = 0; i < left;) {
      size_t next = i + 1;
      if (rows[i].buckets <= size) {
        while (next < left && rows[next].bucket / size == rows[i].bucket / size) ++next;
      }
      const std::span<const SampleRow> block = rows.subspan(i, next - i);
      const SampleRow joined = Joined(block);
      if (Moved(block, joined) <= most_moved) {
        rows[kept++] = joined;
        i = next;
      } else {
        for (; i < next; ++i) rows[kept++] = rows[i];
      }
    }
    left = kept;
  }
  return left;
}

}  // namespace

void Widen(SampleRow& row, int64_t times) {
  const int64_t end = (row.bucket + row.buckets + times - 1) / times;
  row.bucket /= times;
  row.buckets = end - row.bucket;
}

void SortByTime(std::vector<SampleRow>& rows) { std::ranges::sort(rows, {}, TimeOrder); }

void AddUpEqualRows(std::vector<SampleRow>& rows) {
  std::ranges::sort(rows, {}, [](const SampleRow& row) {
    return std::tuple_cat(KeyOf(row), std::tuple(row.bucket, row.buckets));
  });
  size_t kept = 0;
  for (const SampleRow& row : rows) {
    if (kept > 0 && TimeOrder(rows[kept - 1]) == TimeOrder(row)) {
      AddTo(rows[kept - 1], row);
      rows[kept - 1].buckets = std::max(rows[kept - 1].buckets, row.buckets);
    } else {
      rows[kept++] = row;
    }
  }
  rows.resize(kept);
}

std::vector<SampleRow> WithoutStacks(const std::vector<SampleRow>& rows) {
  std::vector<SampleRow> sums = rows;
  for (SampleRow& row : sums) row.cell.stack = kNoStack;
  AddUpEqualRows(sums);
  return sums;
}

void JoinInTime(std::vector<SampleRow>& rows, double precision, int64_t last_bucket) {
  size_t kept = 0;
  for (size_t i = 0; i < rows.size();) {
    const ThreadId thread = rows[i].cell.thread;
    double samples = 0;
    size_t thread_end = i;
    for (; thread_end < rows.size() && rows[thread_end].cell.thread == thread; ++thread_end)
      samples += static_cast<double>(rows[thread_end].cell.count);
    while (i < thread_end) {
      const size_t begin = i;
      while (i < thread_end && KeyOf(rows[i]) == KeyOf(rows[begin]) && rows[i].bucket < last_bucket)
        ++i;
      const size_t past = JoinKey(std::span(rows).subspan(begin, i - begin), samples / precision);
      for (size_t k = 0; k < past; ++k) rows[kept++] = rows[begin + k];
      for (; i < thread_end && KeyOf(rows[i]) == KeyOf(rows[begin]); ++i) rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
}

void JoinSteadyBlocks(std::vector<SampleRow>& rows, int64_t block, int64_t end) {
  const auto begin_of = [&](const SampleRow& row) { return row.bucket / block * block; };
  std::ranges::sort(rows, {}, [&](const SampleRow& row) {
    return std::tuple_cat(std::tuple(begin_of(row)), KeyOf(row), std::tuple(row.bucket));
  });
  const auto same_block = [&](const SampleRow& a, const SampleRow& b) {
    return begin_of(a) == begin_of(b) && a.cell.thread == b.cell.thread;
  };
  size_t kept = 0;
  for (size_t i = 0; i < rows.size();) {
    const int64_t block_end = begin_of(rows[i]) + block;
    size_t next = i;
    bool steady = block_end <= end;
    int64_t at = rows[i].bucket;
    for (; next < rows.size() && same_block(rows[i], rows[next]); ++next) {
      steady = steady && KeyOf(rows[i]) == KeyOf(rows[next]) && rows[next].bucket == at;
      at += rows[next].buckets;
    }
    steady = steady && at <= block_end;
    if (steady) {
      rows[kept++] = Joined(std::span(rows).subspan(i, next - i));
      i = next;
    } else {
      while (i < next) rows[kept++] = rows[i++];
    }
  }
  rows.resize(kept);
  SortByTime(rows);
}

double JoinToFit(std::vector<SampleRow>& rows, int64_t most, double finest, int64_t last_bucket) {
  double precision = finest;
  while (true) {
    JoinInTime(rows, precision, last_bucket);
    if (static_cast<int64_t>(rows.size()) <= most || precision <= 1) return precision;
    precision /= 2;
  }
}

void FoldRareStacks(std::vector<SampleRow>& rows, int64_t most, int64_t last_bucket,
                    const std::function<StackId(StackId)>& parent_of) {
  for (uint64_t rare = 1; static_cast<int64_t>(rows.size()) > most; rare *= 2) {
    std::vector<uint64_t> samples;  // by stack, with what was folded into it
    for (const SampleRow& row : rows) {
      if (row.cell.stack == kNoStack) continue;
      if (row.cell.stack >= samples.size()) samples.resize(row.cell.stack + 1);
      samples[row.cell.stack] += row.cell.count;
    }
    std::vector<StackId> place(samples.size());
    bool only_roots = true;
    for (size_t i = samples.size(); i-- > 0;) {
      const auto stack = static_cast<StackId>(i);
      const StackId parent = parent_of(stack);
      const bool fold = parent != kNoStack && samples[i] <= rare;
      place[i] = fold ? parent : stack;
      if (fold) {
        samples[parent] += samples[i];
      } else if (parent != kNoStack) {
        only_roots = false;
      }
    }
    // Parents come first, so that theirs is the final place already.
    for (size_t i = 0; i < place.size(); ++i) place[i] = place[place[i]];
    for (SampleRow& row : rows) {
      if (row.cell.stack != kNoStack) row.cell.stack = place[row.cell.stack];
    }
    AddUpEqualRows(rows);
    JoinInTime(rows, 1, last_bucket);
    if (only_roots) return;
  }
}

}  // namespace linescope
