#pragma once
// Encodings of bytes as a web page needs them.
#include <string>
#include <string_view>

#include "base/result.h"

namespace linescope {

// RFC 4648, standard alphabet, padded.
std::string Base64(std::string_view bytes);

// Thirteen bits, low ones first, in two of 91 characters: 1.23 characters a byte, where base64
// takes 1.33. DATA.md section 1.1. No character needs to be escaped in HTML.
std::string Base91(std::string_view bytes);
// Fails with kCorrupt on any character, value or bit that Base91 does not write.
Result<std::string> FromBase91(std::string_view text);

// One gzip member. Equal bytes give equal results: no time, no name.
std::string Gzip(std::string_view bytes);
// Fails with kCorrupt when `bytes` is not exactly one whole gzip member or unzips to more than
// `limit` bytes.
Result<std::string> Gunzip(std::string_view bytes, size_t limit);

// `sha256-…` as a content security policy names a script or a style.
std::string CspHash(std::string_view bytes);

}  // namespace linescope
