#pragma once
#include <string>

#include "base/result.h"

namespace linescope {

// A graphical session that somebody sits at: a display is there and this is no CI job.
bool HaveDisplay();

// Opens `file` with the desktop's browser and does not wait for it.
Status OpenInBrowser(const std::string& file);

}  // namespace linescope
