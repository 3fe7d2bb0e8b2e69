#pragma once
// What the writer does to rows of samples to keep them few. A row's key is its thread, stack and
// state. Nothing here loses a sample, or counts one twice.
#include <cstdint>
#include <functional>
#include <vector>

#include "profile/profile.h"

namespace linescope {

// Counts in buckets that are `times` as wide.
void Widen(SampleRow& row, int64_t times);

// Into the order of the table's key: bucket, thread, stack (none first), state.
void SortByTime(std::vector<SampleRow>& rows);

// Sorts by key and then bucket, and adds up rows that begin in the same bucket.
void AddUpEqualRows(std::vector<SampleRow>& rows);

// The sums over all stacks (kNoStack), in the order of AddUpEqualRows.
std::vector<SampleRow> WithoutStacks(const std::vector<SampleRow>& rows);

// Joins rows of one key in time, where that says nearly the same: where samples are few, and where
// they come as steadily as before. A joined row is read as spread evenly over its buckets: by each
// join, at most one in `precision` of the samples of the thread leave the time that they were known
// to be in. `rows` are in the order of AddUpEqualRows and stay in it. Those of `last_bucket`, which
// is still being filled, are left alone.
void JoinInTime(std::vector<SampleRow>& rows, double precision, int64_t last_bucket);

// Where all rows of a thread in a block of `block` buckets have one key, in bucket after bucket,
// they become one row: what a thread does all the time it also does at each moment, and that the
// numbers of samples differ from bucket to bucket is due to the sampler's random intervals. Blocks
// begin at multiples of `block`; those that do not end before `end` (a bucket) are left alone.
// Takes any order, leaves SortByTime's.
void JoinSteadyBlocks(std::vector<SampleRow>& rows, int64_t block, int64_t end);

// JoinInTime with the finest precision that leaves at most `most` rows, but not finer than
// `finest`, and at the coarsest with a row for each key. Returns the precision.
double JoinToFit(std::vector<SampleRow>& rows, int64_t most, double finest, int64_t last_bucket);

// Moves the samples of the rarest stacks to their callers and joins them there in time, until there
// are at most `most` rows or only roots are left. `parent_of` a stack is one with a smaller id, or
// kNoStack. Leaves the order of AddUpEqualRows.
void FoldRareStacks(std::vector<SampleRow>& rows, int64_t most, int64_t last_bucket,
                    const std::function<StackId(StackId)>& parent_of);

}  // namespace linescope
