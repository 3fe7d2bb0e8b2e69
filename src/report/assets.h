#pragma once
// Files that the build puts into the binary.
#include <string_view>

namespace linescope {

std::string_view PageTemplate();  // page.html.tpl

// The front end, built from web/ (DATA.md section 4).
struct PageAssets {
  std::string_view script;
  std::string_view style;
};
PageAssets BuiltInPage();

}  // namespace linescope
