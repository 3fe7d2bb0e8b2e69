#include "profile/json_list.h"

#include <fmt/format.h>

namespace linescope {
namespace {

void AppendString(std::string& json, const std::string& text) {
  json += '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += static_cast<char>(c);
    } else if (c < 0x20) {
      json += fmt::format("\\u{:04x}", c);
    } else {
      json += static_cast<char>(c);
    }
  }
  json += '"';
}

}  // namespace

std::string JsonList(const std::vector<std::string>& items) {
  std::string json = "[";
  for (const std::string& item : items) {
    if (json.size() > 1) json += ',';
    AppendString(json, item);
  }
  return json + "]";
}

std::string JsonPairs(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string json = "[";
  for (const auto& [key, value] : items) {
    json += json.size() > 1 ? ",[" : "[";
    AppendString(json, key);
    json += ',';
    AppendString(json, value);
    json += ']';
  }
  return json + "]";
}

}  // namespace linescope
