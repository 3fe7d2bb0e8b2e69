#include "report/assets.h"

extern "C" {
extern const char linescope_page_template[], linescope_page_template_end[];
extern const char linescope_page_script[], linescope_page_script_end[];
extern const char linescope_page_style[], linescope_page_style_end[];
}

namespace linescope {

std::string_view PageTemplate() { return {linescope_page_template, linescope_page_template_end}; }

PageAssets BuiltInPage() {
  return {.script = {linescope_page_script, linescope_page_script_end},
          .style = {linescope_page_style, linescope_page_style_end}};
}

}  // namespace linescope
