#pragma once
#include <cstdint>
#include <string>

namespace linescope {

// Appends `code_point` (at most 0x1fffff) as UTF-8. Which ones are characters is the caller's
// business.
inline void AppendUtf8(uint32_t code_point, std::string* out) {
  auto tail = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3f)));
  };
  if (code_point < 0x80) {
    out->push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out->push_back(static_cast<char>(0xc0 | code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xf0 | code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace linescope
