#pragma once
// Zstandard frames, as stored for source texts.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace linescope {

Result<std::vector<uint8_t>> Compress(std::string_view data);
// kCorrupt when `frame` is damaged or does not hold exactly `size` bytes.
Result<std::string> Decompress(std::span<const uint8_t> frame, uint64_t size);

}  // namespace linescope
