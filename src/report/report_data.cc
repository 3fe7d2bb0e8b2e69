#include "report/report_data.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>
#include <optional>

#include "report/encoding.h"
#include "report/index_json.h"

namespace linescope {
namespace {

namespace dom = simdjson::dom;

// A chunk of one huge source file; more is not a report of ours.
constexpr size_t kMaxChunkBytes = size_t{1} << 31;

// The text of the first `<script … id="ID">` in `html`, to the next "<" or, in a cut file, the end.
std::optional<std::string_view> ScriptText(std::string_view html, std::string_view type,
                                           std::string_view id, size_t* from) {
  const std::string open = fmt::format("<script type=\"{}\" id=\"{}\">", type, id);
  const size_t at = html.find(open, *from);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t begin = at + open.size();
  const size_t end = std::min(html.find('<', begin), html.size());
  *from = end;
  return html.substr(begin, end - begin);
}

template <class T>
Result<std::vector<T>> ReadColumn(std::string_view data, uint64_t offset, uint64_t count) {
  if (offset % 8 != 0 || offset > data.size() || count > (data.size() - offset) / sizeof(T))
    return Fail(ErrorCode::kCorrupt, "a column of {} values at {} is outside of its part", count,
                offset);
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), data.data() + offset, count * sizeof(T));
  return values;
}

}  // namespace

Result<ReportContainer> ReportContainer::Parse(std::string_view bytes) {
  uint32_t length = 0;
  if (bytes.size() < sizeof length)
    return Fail(ErrorCode::kCorrupt, "a part of {} bytes has no header", bytes.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length || (sizeof length + length) % 8 != 0)
    return Fail(ErrorCode::kCorrupt, "a part's header of {} bytes makes no sense", length);
  const std::string_view data = bytes.substr(sizeof length + length);

  dom::parser parser;
  dom::object header;
  if (parser.parse(bytes.data() + sizeof length, length).get(header) != simdjson::SUCCESS)
    return Fail(ErrorCode::kCorrupt, "a part's header is no JSON object");
  ReportContainer container;
  for (const auto& [name, entry] : header) {
    dom::array fields;
    std::string_view type;
    uint64_t offset = 0, count = 0;
    if (entry.get(fields) != simdjson::SUCCESS || fields.size() != 3 ||
        fields.at(0).get(type) != simdjson::SUCCESS ||
        fields.at(1).get(offset) != simdjson::SUCCESS ||
        fields.at(2).get(count) != simdjson::SUCCESS) {
      return Fail(ErrorCode::kCorrupt, "column {} of a part is not described rightly", name);
    }
    Column& column = container.columns_[std::string(name)];
    if (type == "u8") {
      LS_TRY(values, ReadColumn<uint8_t>(data, offset, count));
      column = std::move(values);
    } else if (type == "u32") {
      LS_TRY(values, ReadColumn<uint32_t>(data, offset, count));
      column = std::move(values);
    } else if (type == "i32") {
      LS_TRY(values, ReadColumn<int32_t>(data, offset, count));
      column = std::move(values);
    } else if (type == "f64") {
      LS_TRY(values, ReadColumn<double>(data, offset, count));
      column = std::move(values);
    } else {
      return Fail(ErrorCode::kCorrupt, "column {} of a part has the unknown type {}", name, type);
    }
  }
  return container;
}

std::vector<std::string> ReportContainer::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, column] : columns_) names.push_back(name);
  return names;
}

std::span<const uint8_t> ReportContainer::BytesAt(std::string_view name, size_t row) const {
  const auto start = U32(fmt::format("{}_start", name));
  const auto bytes = U8(name);
  if (row + 1 >= start.size() || start[row] > start[row + 1] || start[row + 1] > bytes.size())
    return {};
  return bytes.subspan(start[row], start[row + 1] - start[row]);
}

std::string_view ReportContainer::StringAt(std::string_view name, size_t row) const {
  const auto bytes = BytesAt(name, row);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::vector<uint64_t>> ReportContainer::WideVarintsAt(std::string_view name,
                                                             size_t group) const {
  std::vector<uint64_t> values;
  uint64_t value = 0;
  unsigned shift = 0;
  for (const uint8_t byte : BytesAt(name, group)) {
    const uint64_t bits = byte & 0x7Fu;
    if (shift > 63 || (shift == 63 && bits > 1))
      return Fail(ErrorCode::kCorrupt, "a number in {} is too large", name);
    value |= bits << shift;
    shift += 7;
    if (byte & 0x80) continue;
    values.push_back(value);
    value = 0;
    shift = 0;
  }
  if (shift != 0) return Fail(ErrorCode::kCorrupt, "the numbers in {} are cut", name);
  return values;
}

Result<std::vector<uint32_t>> ReportContainer::VarintsAt(std::string_view name,
                                                         size_t group) const {
  LS_TRY(wide, WideVarintsAt(name, group));
  for (const uint64_t value : wide) {
    if (value > UINT32_MAX) return Fail(ErrorCode::kCorrupt, "a number in {} is too large", name);
  }
  return std::vector<uint32_t>(wide.begin(), wide.end());
}

Result<ReportData> ReportData::Parse(std::string html) {
  ReportData data;
  size_t at = 0;
  const auto index = ScriptText(html, "application/json", "ls-index", &at);
  if (!index)
    return Fail(ErrorCode::kCorrupt,
                "this is not a LineScope report, or it is cut before its data");
  data.index_ = *index;
  dom::parser parser;
  dom::element root;
  int64_t format = 0;
  if (parser.parse(data.index_).get(root) != simdjson::SUCCESS ||
      root["format"].get(format) != simdjson::SUCCESS) {
    return Fail(ErrorCode::kCorrupt, "the report's index is damaged");
  }
  if (format != kReportFormat)
    return Fail(ErrorCode::kUnsupported, "the report has format {}; this version reads format {}",
                format, kReportFormat);
  dom::array lengths;
  if (root["chunks"]["length"].get(lengths) != simdjson::SUCCESS)
    return Fail(ErrorCode::kCorrupt, "the report's index names no parts");
  for (const dom::element element : lengths) {
    uint64_t length = 0;
    if (element.get(length) != simdjson::SUCCESS)
      return Fail(ErrorCode::kCorrupt, "the report's index gives a part no length");
    const auto text =
        ScriptText(html, "text/plain", fmt::format("ls-c{}", data.chunks_.size()), &at);
    if (!text || text->size() != length) {
      return Fail(ErrorCode::kCorrupt, "the report is incomplete: {} of {} parts are present",
                  data.chunks_.size(), lengths.size());
    }
    data.chunks_.emplace_back(*text);
  }
  return data;
}

Result<ReportContainer> ReportData::Chunk(size_t number) const {
  if (number >= chunks_.size())
    return Fail(ErrorCode::kUsage, "the report has {} parts, no part {}", chunks_.size(), number);
  LS_TRY(zipped, FromBase91(chunks_[number]));
  LS_TRY(bytes, Gunzip(zipped, kMaxChunkBytes));
  return ReportContainer::Parse(bytes);
}

}  // namespace linescope
