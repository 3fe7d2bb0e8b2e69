#include "report/container.h"

#include <bit>
#include <cstring>

#include "report/json_writer.h"

namespace linescope {
namespace {

static_assert(std::endian::native == std::endian::little,
              "columns are written as they are in memory");

constexpr size_t kAlignment = 8;

size_t PaddingFor(size_t size) { return (kAlignment - size % kAlignment) % kAlignment; }

}  // namespace

void ContainerBuilder::Append(std::string_view name, const char* type, const void* data,
                              size_t bytes, uint64_t count) {
  sections_.push_back({std::string(name), type, data_.size(), count});
  data_.append(static_cast<const char*>(data), bytes);
  data_.append(PaddingFor(bytes), '\0');
}

void ContainerBuilder::Add(std::string_view name, std::span<const uint8_t> values) {
  Append(name, "u8", values.data(), values.size_bytes(), values.size());
}

void ContainerBuilder::Add(std::string_view name, std::span<const uint32_t> values) {
  Append(name, "u32", values.data(), values.size_bytes(), values.size());
}

void ContainerBuilder::Add(std::string_view name, std::span<const double> values) {
  Append(name, "f64", values.data(), values.size_bytes(), values.size());
}

void ContainerBuilder::Add(std::string_view name, std::string_view bytes) {
  Append(name, "u8", bytes.data(), bytes.size(), bytes.size());
}

std::string ContainerBuilder::Build() const {
  JsonWriter json;
  json.BeginObject();
  for (const Section& section : sections_) {
    json.Key(section.name).BeginArray();
    json.String(section.type).Uint(section.offset).Uint(section.count).EndArray();
  }
  json.EndObject();
  std::string header = std::move(json).Take();
  header.append(PaddingFor(sizeof(uint32_t) + header.size()), ' ');
  const auto length = static_cast<uint32_t>(header.size());
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  out.reserve(out.size() + header.size() + data_.size());
  return out.append(header).append(data_);
}

void StringColumn::Push(std::string_view text) {
  bytes_.append(text);
  start_.push_back(static_cast<uint32_t>(bytes_.size()));
}

void StringColumn::AddTo(ContainerBuilder& container, std::string_view name) const {
  container.Add(name, std::string_view(bytes_));
  container.Add(std::string(name) + "_start", std::span<const uint32_t>(start_));
}

void VarintColumn::Push(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
  bytes_.push_back(static_cast<uint8_t>(value));
}

void VarintColumn::AddTo(ContainerBuilder& container, std::string_view name) const {
  container.Add(name, std::span<const uint8_t>(bytes_));
  container.Add(std::string(name) + "_start", std::span<const uint32_t>(start_));
}

}  // namespace linescope
