#include "cli/settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iterator>

#include "cli/arguments.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/toml.h"
#include "cli/top_live.h"
#include "cli/top_options.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

constexpr char kOwnFile[] = "linescope.toml";
constexpr char kProjectFile[] = "pyproject.toml";
constexpr char kProjectTable[] = "tool.linescope";

std::vector<std::string> Keys(const CLI::App& app) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) {
      // --no-… is the same option, set to false.
      const bool negation =
          std::ranges::find(option->get_fnames(), name) != option->get_fnames().end();
      if (name != "help" && !negation) keys.push_back(name);
    }
  return keys;
}

bool MayRepeat(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
         option.get_items_expected_max() > 1;
}

bool IsPath(const std::string& key, const std::string& value) {
  if (key == "output" || key == "profile" || key == "project-root" || key == "output-of-program")
    return true;
  return key == "python" && value.find('/') != std::string::npos;
}

// One file serves all commands, and not every one has all options.
bool IsOfAnotherCommand(const std::string& key) {
  CLI::App all;
  CollectOptions collect;
  ResultOptions results;
  TopRun run;
  std::string python;
  AddCollectOptions(all, &collect);
  AddResultOptions(all, &results);
  AddPythonOption(all, &python);
  AddViewOptions(all, &run);
  const auto keys = Keys(all);
  return std::ranges::find(keys, key) != keys.end();
}

std::string EnvironmentName(const std::string& key) {
  std::string name = "LINESCOPE_";
  for (const char c : key)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Result<std::string> ReadFile(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad())
    return Fail(ErrorCode::kUsage, "cannot read {}: {}", file.string(), ErrnoText());
  return text;
}

const char* TableOf(const fs::path& file) {
  return file.filename() == kProjectFile ? kProjectTable : "";
}

Result<std::vector<TomlEntry>> ReadTable(const fs::path& file) {
  LS_TRY(text, ReadFile(file));
  auto entries = ReadTomlTable(text, TableOf(file));
  if (!entries)
    return Fail(ErrorCode::kUsage, "{} is not valid TOML: {}", file.string(), entries.error().what);
  return entries;
}

// The key as the option is called: TOML's users write project_root as often as project-root.
std::string OptionKey(std::string key) {
  std::ranges::replace(key, '_', '-');
  return key;
}

Result<std::vector<std::string>> Values(const CLI::Option& option, const TomlValue& value) {
  const bool flag = option.get_items_expected_max() == 0;
  switch (value.kind) {
    case TomlValue::Kind::kString:
    case TomlValue::Kind::kNumber:
      if (flag) return Fail(ErrorCode::kUsage, "true or false is expected");
      return std::vector{value.text};
    case TomlValue::Kind::kBoolean:
      if (!flag)
        return Fail(ErrorCode::kUsage, "{} is expected, not {}", option.get_type_name(),
                    value.text);
      return std::vector{value.text};
    case TomlValue::Kind::kArray: {
      if (!MayRepeat(option)) return Fail(ErrorCode::kUsage, "one value is expected, not an array");
      std::vector<std::string> values;
      for (const TomlValue& item : value.items) {
        if (item.kind != TomlValue::Kind::kString)
          return Fail(ErrorCode::kUsage, "an array of strings is expected");
        values.push_back(item.text);
      }
      return values;
    }
    case TomlValue::Kind::kOther:
      break;
  }
  return Fail(ErrorCode::kUsage, "a string or a number is expected");
}

}  // namespace

std::vector<Setting> SettingsFromEnvironment(const CLI::App& app, const GetEnv& get_env) {
  std::vector<Setting> settings;
  for (const std::string& key : Keys(app)) {
    const std::string name = EnvironmentName(key);
    const auto value = get_env(name);
    if (!value || value->empty()) continue;
    const CLI::Option& option = *app.get_option("--" + key);
    settings.push_back(
        {key, MayRepeat(option) ? SplitAtCommas(*value) : std::vector{*value}, name});
  }
  return settings;
}

Result<std::optional<fs::path>> FindSettingsFile(const fs::path& folder) {
  std::error_code ignored;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::is_regular_file(at / kOwnFile, ignored)) return at / kOwnFile;
    const fs::path project = at / kProjectFile;
    if (fs::is_regular_file(project, ignored)) {
      LS_TRY(text, ReadFile(project));
      // A project file that says nothing about us is not ours to judge, broken or not.
      if (text.find("linescope") != std::string::npos) {
        LS_TRY(entries, ReadTable(project));
        if (!entries.empty()) return project;
      }
    }
    if (at == at.root_path()) break;
  }
  return std::nullopt;
}

Result<std::vector<Setting>> SettingsFromFile(const CLI::App& app, const fs::path& file) {
  LS_TRY(entries, ReadTable(file));
  std::vector<Setting> settings;
  for (TomlEntry& entry : entries) {
    const std::string key = OptionKey(entry.key);
    const std::string origin =
        fmt::format("{}, line {}: {}", file.string(), entry.line, Printable(entry.key));
    const auto keys = Keys(app);
    if (std::ranges::find(keys, key) == keys.end()) {
      if (IsOfAnotherCommand(key)) continue;
      const std::string match = ClosestMatch(key, keys);
      return Fail(ErrorCode::kUsage, "{}: there is no such option{}", origin,
                  match.empty() ? "" : fmt::format("; did you mean '{}'?", match));
    }
    auto values = Values(*app.get_option("--" + key), entry.value);
    if (!values) return Fail(ErrorCode::kUsage, "{}: {}", origin, values.error().what);
    for (std::string& value : *values) {
      if (IsPath(key, value) && fs::path(value).is_relative())
        value = (file.parent_path() / value).lexically_normal().string();
    }
    settings.push_back({key, std::move(*values), origin});
  }
  return settings;
}

Status ApplySettings(CLI::App& app, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    CLI::Option* option = app.get_option("--" + setting.key);
    if (option->count() > 0 || setting.values.empty()) continue;
    try {
      for (const std::string& value : setting.values) option->add_result(value);
      option->run_callback();
    } catch (const CLI::Error& error) {
      // The text begins with the option's name, which the origin has said.
      std::string what = error.what();
      const std::string prefix = "--" + setting.key + ": ";
      if (what.starts_with(prefix)) what.erase(0, prefix.size());
      return Fail(ErrorCode::kUsage, "{}: {}", setting.origin, what);
    }
  }
  return {};
}

Result<std::optional<fs::path>> LoadSettings(CLI::App& app, const fs::path& folder,
                                             const GetEnv& get_env) {
  LS_CHECK_OK(ApplySettings(app, SettingsFromEnvironment(app, get_env)));
  LS_TRY(file, FindSettingsFile(folder));
  if (file) {
    LS_TRY(settings, SettingsFromFile(app, *file));
    LS_CHECK_OK(ApplySettings(app, settings));
  }
  return file;
}

}  // namespace linescope
