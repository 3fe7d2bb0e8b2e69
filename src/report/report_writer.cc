#include "report/report_writer.h"

#include "profile/atomic_file.h"
#include "report/assets.h"
#include "report/chunks.h"
#include "report/index_json.h"
#include "report/page.h"

namespace linescope {

Result<std::string> ReportHtml(const ReportModel& model, const ReportOptions& options) {
  const std::string generator = model.run.linescope_version.empty()
                                    ? "LineScope"
                                    : "LineScope " + model.run.linescope_version;
  const ReportChunks chunks = BuildChunks(model, options.threads);
  const std::string index = IndexJson(model, chunks, generator);
  return PageHtml({.model = model,
                   .chunks = chunks,
                   .index = index,
                   .generator = generator,
                   .assets = BuiltInPage(),
                   .may_connect = options.ai});
}

Status WriteReport(ProfileReader& profile, const std::filesystem::path& out,
                   const ReportOptions& options) {
  LS_TRY(model, BuildModel(profile, {.threads = options.threads}));
  if (!options.title.empty()) model.run.title = options.title;
  LS_TRY(html, ReportHtml(model, options));
  return WriteFileAtomically(out, html);
}

}  // namespace linescope
