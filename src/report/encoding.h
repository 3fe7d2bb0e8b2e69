#pragma once
// Encodings of bytes as a web page needs them.
#include <string>
#include <string_view>

#include "base/result.h"

namespace linescope {

// RFC 4648, standard alphabet, padded.
std::string Base64(std::string_view bytes);
// Fails with kCorrupt on any character, length or padding that Base64 does not write.
Result<std::string> FromBase64(std::string_view text);

// One gzip member, level 6 (level 9 gives 1 % for four times the time). Equal bytes give equal
// results: no time, no name.
std::string Gzip(std::string_view bytes);
// Fails with kCorrupt when `bytes` is not exactly one whole gzip member or unzips to more than
// `limit` bytes.
Result<std::string> Gunzip(std::string_view bytes, size_t limit);

// `sha256-…` as a content security policy names a script or a style.
std::string CspHash(std::string_view bytes);

}  // namespace linescope
