#include "report/report_writer.h"

#include "report/assets.h"
#include "report/chunks.h"
#include "report/index_json.h"
#include "report/output_file.h"
#include "report/page.h"

namespace linescope {

Status WriteReport(const ReportModel& model, const std::filesystem::path& out, unsigned threads) {
  const std::string generator = model.run.linescope_version.empty()
                                    ? "LineScope"
                                    : "LineScope " + model.run.linescope_version;
  const ReportChunks chunks = BuildChunks(model, threads);
  const std::string index = IndexJson(model, chunks, generator);
  LS_TRY(file, OutputFile::Create(out));
  LS_CHECK_OK(WritePage({.model = model,
                         .chunks = chunks,
                         .index = index,
                         .generator = generator,
                         .assets = BuiltInPage()},
                        [&](std::string_view bytes) { file.Write(bytes); }));
  return file.Commit();
}

Status WriteReport(ProfileReader& profile, const std::filesystem::path& out,
                   const ReportOptions& options) {
  LS_TRY(model, BuildModel(profile, options.model));
  if (!options.title.empty()) model.run.title = options.title;
  return WriteReport(model, out, options.threads);
}

}  // namespace linescope
