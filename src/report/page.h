#pragma once
// The HTML around a report's data: page.html.tpl filled in.
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/assets.h"
#include "report/chunks.h"
#include "report/report_model.h"

namespace linescope {

struct PageContents {
  const ReportModel& model;
  const ReportChunks& chunks;
  std::string_view index;      // IndexJson
  std::string_view generator;  // name and version
  PageAssets assets;
};

// Hands the page to `write`, piece by piece. Thread-safe.
Status WritePage(const PageContents& contents, const std::function<void(std::string_view)>& write);

}  // namespace linescope
