#include "report/page.h"

#include <ctemplate/template.h>
#include <ctemplate/template_dictionary.h>
#include <ctemplate/template_emitter.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>

#include "report/encoding.h"
#include "report/format.h"

namespace linescope {
namespace {

using ctemplate::TemplateDictionary;
using ctemplate::TemplateString;

constexpr char kTemplateName[] = "page.html.tpl";
// Where a model may be asked: any https: server, or one on the reader's machine. The page narrows
// it to nothing, and to the one server that its user chooses, before it shows anything
// (web/src/state/connection.ts).
constexpr char kModelServers[] = "https: http://localhost:* http://127.0.0.1:*";
constexpr char kNoServers[] = "'none'";
constexpr size_t kSummaryLines = 10;

// ctemplate keeps templates in a cache of its own, by name.
Status LoadTemplate() {
  static std::once_flag once;
  static bool loaded = false;
  std::call_once(once, [] {
    const std::string_view text = PageTemplate();
    loaded = ctemplate::StringToTemplateCache(kTemplateName, text.data(), text.size(),
                                              ctemplate::DO_NOT_STRIP);
  });
  if (!loaded) return Fail(ErrorCode::kInternal, "the report's page template is damaged");
  return {};
}

// Text of the target: any bytes, made valid. The template escapes it.
void SetText(TemplateDictionary& dictionary, const char* name, std::string text) {
  MakeValidUtf8(text);
  std::ranges::replace(text, '\0', ' ');  // no HTML text may hold it
  dictionary.SetValue(name, text);
}

// Bytes that outlive the expansion.
void SetBytes(TemplateDictionary& dictionary, const char* name, std::string_view bytes) {
  dictionary.SetValueWithoutCopy(name, TemplateString(bytes.data(), bytes.size()));
}

const char* OutcomeWord(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kSuccess:
      return "Success";
    case RunOutcome::kFailed:
      return "Failed";
    case RunOutcome::kInterrupted:
      return "Interrupted";
  }
  return "";
}

void AddFact(TemplateDictionary& page, const char* name, std::string value) {
  TemplateDictionary* fact = page.AddSectionDictionary("FACT");
  fact->SetValue("NAME", name);
  SetText(*fact, "VALUE", std::move(value));
}

void AddSummary(const ReportModel& model, TemplateDictionary& page) {
  std::string status = OutcomeWord(model.outcome);
  if (!model.outcome_text.empty()) status += ": " + model.outcome_text;
  AddFact(page, "Status", status);
  AddFact(page, "Command", fmt::format("{}", fmt::join(model.run.command, " ")));
  if (model.python_version) AddFact(page, "Python", *model.python_version);
  AddFact(page, "Elapsed", FormatDuration(model.end.elapsed_ns));
  AddFact(page, "Samples", FormatCount(model.end.samples));
  for (const Diagnostic& diagnostic : model.diagnostics) AddFact(page, "Note", diagnostic.text);

  if (model.hot.empty()) {
    page.ShowSection("NO_HOT");
    return;
  }
  TemplateDictionary* table = page.AddSectionDictionary("HOT");
  for (size_t i = 0; i < std::min(kSummaryLines, model.hot.size()); ++i) {
    const HotLine& hot = model.hot[i];
    const int64_t time = hot.metrics.time_ns.value_or(0);
    TemplateDictionary* line = table->AddSectionDictionary("LINE");
    line->SetValue("TIME", FormatDuration(time));
    line->SetValue("SHARE", FormatShare(static_cast<double>(time),
                                        static_cast<double>(model.totals.all.time_ns)));
    line->SetValue("SAMPLES", FormatCount(hot.metrics.samples));
    SetText(*line, "LABEL", hot.label);
    SetText(*line, "TEXT", hot.text.value_or(""));
  }
}

}  // namespace

Result<std::string> PageHtml(const PageContents& contents) {
  LS_CHECK_OK(LoadTemplate());
  TemplateDictionary page("page");
  page.SetValue("SCRIPT_HASH", CspHash(contents.assets.script));
  page.SetValue("STYLE_HASH", CspHash(contents.assets.style));
  page.SetValue("CONNECT", contents.may_connect ? kModelServers : kNoServers);
  SetText(page, "GENERATOR", std::string(contents.generator));
  SetText(page, "TITLE", TitleOf(contents.model));
  SetBytes(page, "STYLE", contents.assets.style);
  SetBytes(page, "SCRIPT", contents.assets.script);
  SetBytes(page, "INDEX", contents.index);
  AddSummary(contents.model, page);
  for (size_t i = 0; i < contents.chunks.text.size(); ++i) {
    TemplateDictionary* chunk = page.AddSectionDictionary("CHUNK");
    chunk->SetValue("NUMBER", std::to_string(i));
    SetBytes(*chunk, "DATA", contents.chunks.text[i]);
  }
  std::string html;
  ctemplate::StringEmitter emitter(&html);
  if (!ctemplate::ExpandTemplate(kTemplateName, ctemplate::DO_NOT_STRIP, &page, &emitter))
    return Fail(ErrorCode::kInternal, "the report's page template could not be filled in");
  return html;
}

}  // namespace linescope
