#pragma once
// The HTML around a report's data: page.html.tpl filled in.
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
  // May the page, when its user chooses a model server, connect to it? Else its policy forbids
  // every connection.
  bool may_connect = true;
};

// The whole file. Thread-safe.
Result<std::string> PageHtml(const PageContents& contents);

}  // namespace linescope
