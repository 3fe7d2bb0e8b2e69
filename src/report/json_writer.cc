#include "report/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "source/text.h"

namespace linescope {

void JsonWriter::Separate() {
  if (need_comma_) out_ += ',';
  need_comma_ = true;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  out_ += bracket;
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view text) {
  Separate();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  String(name);
  out_ += ':';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) { return Raw(fmt::format_int(value).c_str()); }

JsonWriter& JsonWriter::Uint(uint64_t value) { return Raw(fmt::format_int(value).c_str()); }

JsonWriter& JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  return Raw(fmt::format("{}", value == 0 ? 0.0 : value));  // no "-0"
}

JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  std::string valid(text);
  MakeValidUtf8(valid);
  out_ += '"';
  for (size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    switch (c) {
      case '"':
        out_ += "\\\"";
        continue;
      case '\\':
        out_ += "\\\\";
        continue;
      case '\n':
        out_ += "\\n";
        continue;
      case '\t':
        out_ += "\\t";
        continue;
      case '\r':
        out_ += "\\r";
        continue;
      default:
        break;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7F) {
      out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (c == '\xE2' && (valid.compare(i, 3, "\xE2\x80\xA8") == 0 ||
                               valid.compare(i, 3, "\xE2\x80\xA9") == 0)) {
      out_ += valid[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out_ += c;
    }
  }
  out_ += '"';
  return *this;
}

}  // namespace linescope
