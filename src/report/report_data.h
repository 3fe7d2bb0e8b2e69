#pragma once
// Reads the data of a written report back (DATA.md): for tests, and for whoever has a report but no
// profile. The bytes are untrusted.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace linescope {

// A container's sections by name.
class ReportContainer {
 public:
  // Fails with kCorrupt on anything that DATA.md section 2 does not allow.
  static Result<ReportContainer> Parse(std::string_view bytes);

  // The section, or an empty column when there is none of this name and type.
  std::span<const uint8_t> U8(std::string_view name) const { return Get<uint8_t>(name); }
  std::span<const uint32_t> U32(std::string_view name) const { return Get<uint32_t>(name); }
  std::span<const int32_t> I32(std::string_view name) const { return Get<int32_t>(name); }
  std::span<const double> F64(std::string_view name) const { return Get<double>(name); }
  std::vector<std::string> Names() const;

  // Row `row` of the strings `name`, `name_start`; empty when its bounds make no sense.
  std::string_view StringAt(std::string_view name, size_t row) const;
  // The LEB128 numbers of group `group` of `name`, `name_start`. Fails with kCorrupt when they are
  // cut or larger than 32 bits.
  Result<std::vector<uint32_t>> VarintsAt(std::string_view name, size_t group) const;
  // The same for numbers of up to 64 bits.
  Result<std::vector<uint64_t>> WideVarintsAt(std::string_view name, size_t group) const;

 private:
  using Column = std::variant<std::vector<uint8_t>, std::vector<uint32_t>, std::vector<int32_t>,
                              std::vector<double>>;

  template <class T>
  std::span<const T> Get(std::string_view name) const {
    const auto column = columns_.find(name);
    if (column == columns_.end()) return {};
    const auto* values = std::get_if<std::vector<T>>(&column->second);
    return values != nullptr ? std::span<const T>(*values) : std::span<const T>();
  }
  // The part of the u8 section `name` that `name_start` gives to `row`.
  std::span<const uint8_t> BytesAt(std::string_view name, size_t row) const;

  std::map<std::string, Column, std::less<>> columns_;
};

class ReportData {
 public:
  // Finds the parts in the HTML. Fails with kCorrupt when it is no report, kUnsupported for another
  // format, and kCorrupt, saying how many parts are there, for a cut file.
  static Result<ReportData> Parse(std::string html);

  // JSON text.
  const std::string& index() const { return index_; }
  size_t chunk_count() const { return chunks_.size(); }
  // Fails with kCorrupt for a damaged chunk, kUsage for a number that there is not.
  Result<ReportContainer> Chunk(size_t number) const;

 private:
  std::string index_;
  std::vector<std::string> chunks_;  // base 91
};

}  // namespace linescope
