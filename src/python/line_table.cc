#include "python/line_table.h"

#include <algorithm>

namespace linescope {
namespace {

// Bounds-checked reader of the table's bytes.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> data) : data_(data) {}
  [[nodiscard]] bool AtEnd() const { return at_ >= data_.size(); }
  uint8_t Next() { return AtEnd() ? 0 : data_[at_++]; }
  void Skip(size_t count) { at_ = std::min(data_.size(), at_ + count); }

  // Little-endian groups of 6 bits; bit 6 says that another follows. Values beyond 32 bits are
  // malformed and wrap.
  uint32_t Varint() {
    uint32_t value = 0;
    for (unsigned shift = 0;; shift += 6) {
      const uint8_t byte = Next();
      if (shift < 32) value |= uint32_t{byte & 0x3fu} << shift;
      if ((byte & 0x40) == 0) return value;
    }
  }
  int32_t SignedVarint() {
    const uint32_t value = Varint();
    const auto magnitude = static_cast<int32_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }

 private:
  std::span<const uint8_t> data_;
  size_t at_ = 0;
};

int32_t Add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

}  // namespace

void UnitRanges::Set(size_t begin, size_t end, const SourceRange& range) {
  end = std::min(end, size());
  if (begin >= end || range.line <= 0) return;
  if (ranges_.back() != range) ranges_.push_back(range);
  std::fill(range_of_.begin() + static_cast<ptrdiff_t>(begin),
            range_of_.begin() + static_cast<ptrdiff_t>(end),
            static_cast<uint32_t>(ranges_.size() - 1));
}

UnitRanges DecodeLocationTable(std::span<const uint8_t> table, int32_t first_line, size_t units) {
  UnitRanges ranges(units);
  Bytes bytes(table);
  int32_t line = first_line;
  size_t unit = 0;
  while (!bytes.AtEnd() && unit < units) {
    const uint8_t header = bytes.Next();
    const int kind = header >> 3 & 0xf;
    const size_t length = (header & 7u) + 1;
    SourceRange range;
    switch (kind) {
      case 15:  // no line
        break;
      case 14: {  // long form: columns are stored as one more, 0 is none
        line = Add(line, bytes.SignedVarint());
        range.line = line;
        range.end_line = Add(line, static_cast<int32_t>(bytes.Varint()));
        range.column = Add(static_cast<int32_t>(bytes.Varint()), -1);
        range.end_column = Add(static_cast<int32_t>(bytes.Varint()), -1);
        break;
      }
      case 13:  // no columns
        line = Add(line, bytes.SignedVarint());
        range.line = line;
        break;
      case 10:
      case 11:
      case 12:  // one line, two column bytes
        line = Add(line, kind - 10);
        range = {line, line, bytes.Next(), 0};
        range.end_column = bytes.Next();
        break;
      default: {  // short form: same line, one byte of columns
        const uint8_t columns = bytes.Next();
        const int32_t column = kind << 3 | columns >> 4;
        range = {line, line, column, column + (columns & 0xf)};
      }
    }
    const bool has_columns = range.column >= 0 && range.end_column >= 0;
    if (!has_columns || range.end_line < range.line) range = {.line = range.line};
    ranges.Set(unit, unit + length, range);
    unit += length;
  }
  return ranges;
}

namespace {

// Garbage adds up to anything.
int32_t LineOr(int64_t line) {
  return line > 0 && line <= INT32_MAX ? static_cast<int32_t>(line) : kNoLine;
}

}  // namespace

UnitRanges DecodeLineRanges(std::span<const uint8_t> table, int32_t first_line, size_t units) {
  UnitRanges ranges(units);
  int64_t line = first_line;
  size_t unit = 0;
  for (size_t i = 0; i + 1 < table.size() && unit < units; i += 2) {
    const auto delta = static_cast<int8_t>(table[i + 1]);
    constexpr int8_t kNone = -128;  // these units belong to no line; the line stays
    if (delta != kNone) line += delta;
    const size_t end = std::min(units, unit + table[i] / 2);
    if (delta != kNone) ranges.Set(unit, end, {.line = LineOr(line)});
    unit = end;
  }
  return ranges;
}

UnitRanges DecodeLineDeltas(std::span<const uint8_t> table, int32_t first_line, size_t units) {
  UnitRanges ranges(units);
  int64_t line = first_line;
  size_t unit = 0;
  for (size_t i = 0;; i += 2) {
    // The last line goes on to the end.
    const bool last = i + 1 >= table.size();
    const size_t end = last ? units : std::min(units, unit + table[i] / 2);
    ranges.Set(unit, end, {.line = LineOr(line)});
    if (last) return ranges;
    unit = end;
    line += static_cast<int8_t>(table[i + 1]);
  }
}

}  // namespace linescope
