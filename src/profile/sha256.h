#pragma once
// SHA-256 (FIPS 180-4), to name snapshots by what they contain; `sha256sum` gives the same.
#include <string>
#include <string_view>

namespace linescope {

// Lower-case hex, 64 characters.
std::string Sha256Hex(std::string_view data);

}  // namespace linescope
