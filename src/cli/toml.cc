#include "cli/toml.h"

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/utf8.h"

namespace linescope {
namespace {

// Nesting that no configuration has; bounds the recursion.
constexpr int kMaxDepth = 64;

bool IsBareKeyChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

std::string Join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view table) : text_(text), table_(table) {}

  Result<std::vector<TomlEntry>> Parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) pos_ = 3;
    std::string header;
    while (SkipBlankLines()) {
      if (Peek() == '[') {
        LS_TRY(path, ReadHeader());
        header = std::move(path);
      } else {
        LS_CHECK_OK(ReadPair(header, 0));
      }
      SkipSpaces();
      if (!AtEnd() && Peek() != '\n' && Peek() != '#' && Peek() != '\r')
        return Bad("unexpected text after a value");
    }
    return std::move(entries_);
  }

 private:
  [[nodiscard]] bool AtEnd() const { return pos_ >= text_.size(); }
  [[nodiscard]] char Peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  char Take() {
    const char c = text_[pos_++];
    if (c == '\n') ++line_;
    return c;
  }
  bool TakeIf(char c) {
    if (AtEnd() || Peek() != c) return false;
    Take();
    return true;
  }
  [[nodiscard]] std::unexpected<Error> Bad(std::string_view what) const {
    return Fail(ErrorCode::kCorrupt, "line {}: {}", line_, what);
  }

  void SkipSpaces() {
    while (!AtEnd() && (Peek() == ' ' || Peek() == '\t')) Take();
  }
  void SkipComment() {
    if (Peek() == '#')
      while (!AtEnd() && Peek() != '\n') Take();
  }
  // To the next line that says something; false at the end of the document.
  bool SkipBlankLines() {
    while (true) {
      SkipSpaces();
      SkipComment();
      if (AtEnd()) return false;
      if (Peek() != '\n' && Peek() != '\r') return true;
      Take();
    }
  }

  Result<std::string> ReadHeader() {
    Take();
    const bool array = TakeIf('[');
    LS_TRY(path, ReadKey());
    if (!TakeIf(']') || (array && !TakeIf(']'))) return Bad("a table's name is not closed by ']'");
    if (array && path == table_)
      return Bad(fmt::format("'{}' is a table, not an array of tables", table_));
    // An array of tables is never ours: the suffix keeps its keys out of a table of the same name.
    return array ? path + "[]" : path;
  }

  // One key with its dots, as one path.
  Result<std::string> ReadKey() {
    std::string path;
    do {
      SkipSpaces();
      std::string part;
      if (Peek() == '"' || Peek() == '\'') {
        LS_TRY(value, ReadString());
        part = std::move(value);
      } else {
        while (!AtEnd() && IsBareKeyChar(Peek())) part += Take();
        if (part.empty()) return Bad("a key is expected");
      }
      path = Join(path, part);
      SkipSpaces();
    } while (TakeIf('.'));
    return path;
  }

  // key = value; an inline table adds one entry for each of its pairs.
  Status ReadPair(const std::string& parent, int depth) {
    const int line = line_;
    LS_TRY(key, ReadKey());
    if (!TakeIf('=')) return Bad(fmt::format("'=' is expected after '{}'", key));
    SkipSpaces();
    const std::string path = Join(parent, key);
    if (Peek() == '{') return ReadInlineTable(path, depth + 1);
    LS_TRY(value, ReadValue(depth));
    Add(path, std::move(value), line);
    return {};
  }

  Status ReadInlineTable(const std::string& path, int depth) {
    if (depth > kMaxDepth) return Bad("too deeply nested");
    Take();
    if (SkipSpaces(), TakeIf('}')) return {};
    do {
      LS_CHECK_OK(ReadPair(path, depth));
      SkipSpaces();
    } while (TakeIf(','));
    if (!TakeIf('}')) return Bad("an inline table is not closed by '}'");
    return {};
  }

  void Add(const std::string& path, TomlValue value, int line) {
    if (table_.empty()) {
      entries_.push_back({path, std::move(value), line});
    } else if (path.size() > table_.size() + 1 && path.starts_with(table_) &&
               path[table_.size()] == '.') {
      entries_.push_back({path.substr(table_.size() + 1), std::move(value), line});
    } else if (path == table_) {
      entries_.push_back({"", std::move(value), line});
    }
  }

  Result<TomlValue> ReadValue(int depth) {
    if (depth > kMaxDepth) return Bad("too deeply nested");
    if (AtEnd()) return Bad("a value is expected");
    if (Peek() == '"' || Peek() == '\'') {
      LS_TRY(text, ReadString());
      return TomlValue{TomlValue::Kind::kString, std::move(text), {}};
    }
    if (Peek() == '[') return ReadArray(depth);
    return ReadScalar();
  }

  Result<TomlValue> ReadArray(int depth) {
    Take();
    TomlValue array{TomlValue::Kind::kArray, "", {}};
    while (SkipBlankLines()) {
      if (TakeIf(']')) return array;
      if (Peek() == '{') {
        // A table inside an array is nobody's option of ours; its pairs are read and left out.
        const size_t kept = entries_.size();
        LS_CHECK_OK(ReadInlineTable("", depth + 1));
        entries_.resize(kept);
        array.items.push_back({});
      } else {
        LS_TRY(item, ReadValue(depth + 1));
        array.items.push_back(std::move(item));
      }
      if (!SkipBlankLines()) break;
      if (!TakeIf(',') && Peek() != ']') return Bad("',' or ']' is expected in an array");
    }
    return Bad("an array is not closed by ']'");
  }

  // A number, boolean or date: everything up to a delimiter.
  Result<TomlValue> ReadScalar() {
    std::string text;
    while (!AtEnd() && std::string_view(",]}#\n\r").find(Peek()) == std::string_view::npos) {
      if (Peek() == ' ' || Peek() == '\t') {
        // Only a date has a blank inside: 1979-05-27 07:32:00.
        if (text.size() != 10 || text[4] != '-' ||
            std::isdigit(static_cast<unsigned char>(Peek(1))) == 0)
          break;
      }
      text += Take();
    }
    if (text == "true" || text == "false") return TomlValue{TomlValue::Kind::kBoolean, text, {}};
    std::string number;
    for (const char c : text)
      if (c != '_') number += c;
    if (!number.empty()) {
      char* end = nullptr;
      std::strtod(number.c_str(), &end);
      const bool based = number.starts_with("0o") || number.starts_with("0b");
      if (*end == '\0' || based) return TomlValue{TomlValue::Kind::kNumber, number, {}};
      if (std::isdigit(static_cast<unsigned char>(text[0])) != 0)
        return TomlValue{TomlValue::Kind::kOther, text, {}};
    }
    return Bad(text.empty() ? std::string("a value is expected")
                            : fmt::format("'{}' is not a value; text stands in quotes", text));
  }

  Result<std::string> ReadString() {
    const char quote = Peek();
    const bool basic = quote == '"';
    if (Peek(1) == quote && Peek(2) == quote) return ReadMultiline(quote);
    Take();
    std::string out;
    while (!AtEnd() && Peek() != '\n') {
      if (TakeIf(quote)) return out;
      if (basic && Peek() == '\\') {
        LS_CHECK_OK(ReadEscape(&out));
      } else {
        out += Take();
      }
    }
    return Bad("a string is not closed");
  }

  Result<std::string> ReadMultiline(char quote) {
    for (int i = 0; i < 3; ++i) Take();
    TakeIf('\r');
    TakeIf('\n');
    std::string out;
    while (!AtEnd()) {
      if (Peek() == quote && Peek(1) == quote && Peek(2) == quote) {
        for (int i = 0; i < 3; ++i) Take();
        // Up to two more quotes belong to the content.
        for (int i = 0; i < 2 && Peek() == quote; ++i) out += Take();
        return out;
      }
      if (quote == '"' && Peek() == '\\') {
        LS_CHECK_OK(ReadEscape(&out));
      } else {
        out += Take();
      }
    }
    return Bad("a string of several lines is not closed");
  }

  Status ReadEscape(std::string* out) {
    Take();
    if (AtEnd()) return Bad("a string is not closed");
    const char c = Take();
    switch (c) {
      case 'b':
        *out += '\b';
        return {};
      case 't':
        *out += '\t';
        return {};
      case 'n':
        *out += '\n';
        return {};
      case 'f':
        *out += '\f';
        return {};
      case 'r':
        *out += '\r';
        return {};
      case 'e':
        *out += '\x1b';
        return {};
      case '"':
      case '\\':
        *out += c;
        return {};
      case 'u':
        return ReadCodePoint(4, out);
      case 'U':
        return ReadCodePoint(8, out);
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        // The backslash at a line's end swallows the break and the next line's indentation.
        while (!AtEnd() && std::isspace(static_cast<unsigned char>(Peek())) != 0) Take();
        return {};
      default:
        return Bad(fmt::format("unknown escape '\\{}'", c));
    }
  }

  Status ReadCodePoint(int digits, std::string* out) {
    uint32_t code = 0;
    for (int i = 0; i < digits; ++i) {
      const char c = Peek();
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return Bad("bad \\u escape");
      Take();
      code = code * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return Bad("bad \\u escape");
    AppendUtf8(code, out);
    return {};
  }

  std::string_view text_;
  std::string_view table_;
  size_t pos_ = 0;
  int line_ = 1;
  std::vector<TomlEntry> entries_;
};

}  // namespace

Result<std::vector<TomlEntry>> ReadTomlTable(std::string_view document, std::string_view table) {
  return Parser(document, table).Parse();
}

}  // namespace linescope
