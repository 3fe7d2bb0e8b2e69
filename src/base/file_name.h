#pragma once
#include <string_view>

namespace linescope {

// The last part of a path: what follows its last '/', or all of it.
inline std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace linescope
