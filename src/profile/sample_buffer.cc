#include "profile/sample_buffer.h"

#include <algorithm>
#include <utility>

#include "profile/sample_rows.h"

namespace linescope {

void SampleBuffer::Add(int64_t begin_ns, std::span<const SampleCell> cells) {
  int64_t begin = std::max<int64_t>(begin_ns, 0);
  while (begin / width_ns_ >= kMaxBuckets) Widen();
  int64_t bucket = begin / width_ns_;
  last_bucket_ = std::max(last_bucket_, bucket);
  for (const SampleCell& cell : cells)
    cells_[{bucket, cell.thread, cell.stack, cell.state}].cost +=
        Cost{cell.count, cell.wall_ns, cell.cpu_ns};
}

void SampleBuffer::Widen() {
  width_ns_ *= 2;
  if (last_bucket_ >= 0) last_bucket_ /= 2;
  std::unordered_map<Key, Cell, KeyHash> merged;
  merged.reserve(cells_.size());
  for (const auto& [key, cell] : cells_) {
    SampleRow row{.bucket = key.bucket, .cell = {}, .buckets = cell.buckets};
    linescope::Widen(row, 2);
    Cell& sum = merged[{row.bucket, key.thread, key.stack, key.state}];
    sum.cost += cell.cost;
    sum.buckets = std::max(sum.buckets, row.buckets);
  }
  cells_ = std::move(merged);
}

void SampleBuffer::Replace(const std::vector<SampleRow>& rows) {
  cells_.clear();
  for (const SampleRow& row : rows) {
    const SampleCell& cell = row.cell;
    cells_[{row.bucket, cell.thread, cell.stack, cell.state}] = {
        {cell.count, cell.wall_ns, cell.cpu_ns}, row.buckets};
  }
}

std::vector<SampleRow> SampleBuffer::Rows() const {
  std::vector<SampleRow> rows;
  rows.reserve(cells_.size());
  for (const auto& [key, cell] : cells_) {
    const Cost& cost = cell.cost;
    rows.push_back({key.bucket,
                    {key.thread, key.stack, key.state, cost.samples, cost.wall_ns, cost.cpu_ns},
                    cell.buckets});
  }
  return rows;
}

size_t SampleBuffer::KeyHash::operator()(const Key& key) const {
  // Multiply and fold (the constant is 2^64 over the golden ratio); ids are dense and small.
  uint64_t a = (static_cast<uint64_t>(key.bucket) << 4 | static_cast<uint64_t>(key.state)) *
               0x9e3779b97f4a7c15u;
  uint64_t b = (uint64_t{key.thread} << 32 | key.stack) ^ (a >> 29);
  b *= 0x9e3779b97f4a7c15u;
  return b ^ (b >> 32);
}

}  // namespace linescope
