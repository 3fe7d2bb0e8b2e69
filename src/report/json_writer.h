#pragma once
// Writes JSON that may stand inside a <script> element: `<`, `>`, `&`, U+2028 and U+2029 are
// escaped, strings are made valid UTF-8, numbers have one form for one value. Commas are put by
// themselves; the caller keeps Begin and End in balance.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace linescope {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);

  JsonWriter& String(std::string_view text);
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& Int(int64_t value);
  JsonWriter& Uint(uint64_t value);
  // The shortest text that reads back as the same value; null for NaN and infinities, which JSON
  // has not.
  JsonWriter& Double(double value);

  // An absent value is null.
  template <class T>
  JsonWriter& Value(const std::optional<T>& value) {
    return value ? Value(*value) : Null();
  }
  JsonWriter& Value(bool value) { return Bool(value); }
  JsonWriter& Value(int value) { return Int(value); }
  JsonWriter& Value(int64_t value) { return Int(value); }
  JsonWriter& Value(uint32_t value) { return Uint(value); }
  JsonWriter& Value(uint64_t value) { return Uint(value); }
  JsonWriter& Value(double value) { return Double(value); }
  JsonWriter& Value(std::string_view value) { return String(value); }
  JsonWriter& Value(const std::string& value) { return String(value); }
  JsonWriter& Value(const char* value) { return String(value); }

  template <class T>
  JsonWriter& Field(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }
  // `name: [get(row) for row in rows]`.
  template <class Rows, class Get>
  JsonWriter& Column(std::string_view name, const Rows& rows, Get get) {
    Key(name).BeginArray();
    for (const auto& row : rows) Value(get(row));
    return EndArray();
  }
  template <class Items>
  JsonWriter& List(std::string_view name, const Items& items) {
    return Column(name, items, [](const auto& item) { return item; });
  }

  const std::string& text() const { return out_; }
  std::string Take() && { return std::move(out_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  JsonWriter& Raw(std::string_view text);
  void Separate();

  std::string out_;
  bool need_comma_ = false;
};

}  // namespace linescope
