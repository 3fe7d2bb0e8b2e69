#include "cli/target_words.h"

#include <filesystem>

#include "cli/arguments.h"

namespace linescope {
namespace {

TargetWords TakeTarget(const OptionsEnd& end, const Arguments& arguments) {
  TargetWords target;
  switch (end.kind) {
    case OptionsEnd::Kind::kDashes:
      target.form = TargetForm::kProgram;
      break;
    case OptionsEnd::Kind::kLastOption:
      target.form = end.option == "-m" ? TargetForm::kModule : TargetForm::kCode;
      if (!end.value.empty()) target.words.push_back(end.value);
      break;
    case OptionsEnd::Kind::kWord:
    case OptionsEnd::Kind::kNothing:
      break;
  }
  target.words.insert(target.words.end(), arguments.begin() + static_cast<ptrdiff_t>(end.index),
                      arguments.end());
  return target;
}

std::string MissingTarget(const OptionsEnd& end) {
  switch (end.kind) {
    case OptionsEnd::Kind::kDashes:
      return "a program to run is missing after --";
    case OptionsEnd::Kind::kLastOption:
      return end.option == "-m" ? "the module's name is missing after -m"
                                : "the code is missing after -c";
    case OptionsEnd::Kind::kWord:
    case OptionsEnd::Kind::kNothing:
      break;
  }
  return "a script to run is missing (or -m MODULE, -c CODE, -- PROGRAM)";
}

}  // namespace

Result<CommandLine> SplitCommandLine(const CLI::App& app, const Arguments& arguments) {
  const std::vector<std::string> last_options = {"-m", "-c"};
  LS_TRY(end, FindOptionsEnd(app, arguments, last_options));
  auto own_end = arguments.begin() + static_cast<ptrdiff_t>(end.index);
  if (end.kind == OptionsEnd::Kind::kDashes || end.kind == OptionsEnd::Kind::kLastOption) --own_end;
  return CommandLine{.own = Arguments(arguments.begin(), own_end),
                     .target = TakeTarget(end, arguments),
                     .missing = MissingTarget(end)};
}

std::string TargetTitle(const TargetWords& words, const Target& target) {
  switch (words.form) {
    case TargetForm::kModule:
      return "python -m " + words.words[0];
    case TargetForm::kCode:
      return "python -c";
    case TargetForm::kScript:
      return words.words[0] == "-" ? "python -"
                                   : std::filesystem::path(words.words[0]).filename().string();
    case TargetForm::kProgram:
      break;
  }
  return target.script.empty() ? std::filesystem::path(words.words[0]).filename().string()
                               : std::filesystem::path(target.script).filename().string();
}

}  // namespace linescope
