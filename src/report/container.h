#pragma once
// The container of DATA.md section 2: named columns of numbers, aligned so that the page can use
// them without a copy.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linescope {

class ContainerBuilder {
 public:
  void Add(std::string_view name, std::span<const uint8_t> values);
  void Add(std::string_view name, std::span<const uint32_t> values);
  void Add(std::string_view name, std::span<const double> values);
  // Bytes of text as a u8 section.
  void Add(std::string_view name, std::string_view bytes);
  // The whole container. Sections stand in the order in which they were added.
  std::string Build() const;

 private:
  struct Section {
    std::string name;
    const char* type;
    uint64_t offset;
    uint64_t count;
  };
  void Append(std::string_view name, const char* type, const void* data, size_t bytes,
              uint64_t count);

  std::vector<Section> sections_;
  std::string data_;
};

// A column of strings: two sections, `name` and `name_start`.
class StringColumn {
 public:
  void Push(std::string_view text);
  void AddTo(ContainerBuilder& container, std::string_view name) const;
  size_t bytes() const { return bytes_.size(); }

 private:
  std::string bytes_;
  std::vector<uint32_t> start_ = {0};
};

// A column of unsigned LEB128 numbers in groups: two sections, `name` and `name_start` (byte
// offsets of the groups).
class VarintColumn {
 public:
  void Push(uint64_t value);
  void EndGroup() { start_.push_back(static_cast<uint32_t>(bytes_.size())); }
  void AddTo(ContainerBuilder& container, std::string_view name) const;

 private:
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> start_ = {0};
};

}  // namespace linescope
