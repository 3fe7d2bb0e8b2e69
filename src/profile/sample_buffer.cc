#include "profile/sample_buffer.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace linescope {

namespace {

// The order of the table's key: kNoStack is -1 there and comes first.
auto KeyOrder(const SampleRow& row) {
  return std::tuple(row.bucket, row.cell.thread, row.cell.stack + 1, row.cell.state);
}

}  // namespace

void SampleBuffer::Add(int64_t begin_ns, std::span<const SampleCell> cells) {
  int64_t begin = std::max<int64_t>(begin_ns, 0);
  while (begin / width_ns_ >= kMaxBuckets) Widen();
  int64_t bucket = begin / width_ns_;
  last_bucket_ = std::max(last_bucket_, bucket);
  for (const SampleCell& cell : cells)
    cells_[{bucket, cell.thread, cell.stack, cell.state}] +=
        Cost{cell.count, cell.wall_ns, cell.cpu_ns};
}

void SampleBuffer::Widen() {
  width_ns_ *= 2;
  if (last_bucket_ >= 0) last_bucket_ /= 2;
  std::unordered_map<Key, Cost, KeyHash> merged;
  merged.reserve(cells_.size());
  for (const auto& [key, cost] : cells_)
    merged[{key.bucket / 2, key.thread, key.stack, key.state}] += cost;
  cells_ = std::move(merged);
}

std::vector<SampleRow> SampleBuffer::SortedRows() const {
  std::vector<SampleRow> rows;
  rows.reserve(cells_.size());
  for (const auto& [key, cost] : cells_)
    rows.push_back(
        {key.bucket, {key.thread, key.stack, key.state, cost.samples, cost.wall_ns, cost.cpu_ns}});
  std::ranges::sort(rows, {}, KeyOrder);
  return rows;
}

size_t SampleBuffer::KeyHash::operator()(const Key& key) const {
  // Multiply and fold (the constant is 2^64 over the golden ratio); ids are dense and small.
  uint64_t a = (static_cast<uint64_t>(key.bucket) << 2 | static_cast<uint64_t>(key.state)) *
               0x9e3779b97f4a7c15u;
  uint64_t b = (uint64_t{key.thread} << 32 | key.stack) ^ (a >> 29);
  b *= 0x9e3779b97f4a7c15u;
  return b ^ (b >> 32);
}

void MergeEqualKeys(std::vector<SampleRow>& rows, size_t begin) {
  if (begin == rows.size()) return;
  std::ranges::sort(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(), {}, KeyOrder);
  size_t last = begin;
  for (size_t i = begin + 1; i < rows.size(); ++i) {
    if (KeyOrder(rows[i]) == KeyOrder(rows[last])) {
      rows[last].cell.count += rows[i].cell.count;
      rows[last].cell.wall_ns += rows[i].cell.wall_ns;
      rows[last].cell.cpu_ns += rows[i].cell.cpu_ns;
    } else {
      rows[++last] = rows[i];
    }
  }
  rows.resize(last + 1);
}

}  // namespace linescope
