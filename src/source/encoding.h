#pragma once
// The encodings of Python sources (PEP 263).
#include <string>
#include <string_view>

namespace linescope {

// The encoding declared by a comment in the first two lines, as written; empty: none. `bytes`
// begins after a BOM.
std::string DeclaredEncoding(std::string_view bytes);

// One spelling for each encoding: lower case, '-' for '_', and Python's aliases of those handled
// without iconv
// ("latin_1" and "L1" → "iso-8859-1", "utf8" and "utf-8-sig" → "utf-8", "cp1252" and "windows-1252"
// → "cp1252").
std::string NormalizedEncoding(std::string_view name);

struct DecodedBytes {
  std::string utf8;     // may still hold invalid sequences where the encoding is UTF-8
  size_t replaced = 0;  // bytes without a meaning, now U+FFFD
  bool known = true;    // false: no such encoding here, `utf8` is the bytes as they are
};
// `encoding` as NormalizedEncoding gives it. UTF-8 is passed through.
DecodedBytes DecodeBytes(std::string_view bytes, std::string_view encoding);

}  // namespace linescope
