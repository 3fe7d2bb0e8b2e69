#pragma once
// Runs made up for comparisons: texts, and samples of 1 ms on their lines.
#include <map>
#include <string>

#include "compare/run_data.h"
#include "source/index.h"
#include "source/text.h"

namespace linescope::testing {

struct TextFile {
  std::string place, text;
  std::map<std::string, uint64_t> samples;  // by a piece of a line, which must stand in one only
};

inline RunData MakeRun(const std::vector<TextFile>& files) {
  RunData run;
  run.title = "app.py";
  run.mode = "wall";
  run.elapsed_ns = 10'000'000'000;
  for (const TextFile& file : files) {
    const SourceText text = DecodeSource(file.text);
    const SourceIndex index = IndexPython(text);
    RunFile out;
    out.place = file.place;
    out.path = "/p/" + file.place;
    out.has_source = true;
    for (uint32_t line = 1; line <= text.LineCount(); ++line)
      out.text.emplace_back(text.Line(line));
    const auto file_id = static_cast<uint32_t>(run.files.size());
    std::vector<RunFunction> functions;
    for (const Definition& definition : index.definitions) {
      if (definition.kind != DefinitionKind::kFunction &&
          definition.kind != DefinitionKind::kAsyncFunction)
        continue;
      out.definitions.push_back({definition.qualified_name, definition.line, definition.last_line});
      functions.push_back(
          {definition.qualified_name, file_id, definition.line, definition.last_line, {}});
    }
    for (uint32_t line = 1; line <= out.text.size(); ++line) {
      for (const auto& [piece, samples] : file.samples) {
        if (out.text[line - 1].find(piece) == std::string::npos) continue;
        const RunCost cost{static_cast<int64_t>(samples) * 1'000'000, samples};
        out.lines.push_back({line, cost});
        for (RunCost* sum : {&out.cost, &run.total, &run.project}) {
          sum->time_ns += cost.time_ns;
          sum->samples += cost.samples;
        }
        for (RunFunction& function : functions) {
          if (line < function.line || line > function.last) continue;
          function.cost.time_ns += cost.time_ns;
          function.cost.samples += cost.samples;
        }
      }
    }
    run.files.push_back(std::move(out));
    run.functions.insert(run.functions.end(), functions.begin(), functions.end());
  }
  return run;
}

}  // namespace linescope::testing
