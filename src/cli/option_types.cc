#include "cli/option_types.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "cli/terminal.h"

namespace linescope {

void AddValue(CLI::App& app, const OptionText& text,
              std::function<std::string(const std::string&)> store) {
  const std::string name = text.names.substr(text.names.rfind("--"));
  auto callback = [name, store = std::move(store)](const std::string& value) {
    if (const std::string complaint = store(value); !complaint.empty())
      throw CLI::ValidationError(fmt::format("{}: '{}' {}", name, Printable(value), complaint),
                                 CLI::ExitCodes::ValidationError);
  };
  app.add_option_function<std::string>(text.names, callback, text.description)
      ->type_name(text.type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(text.group);
}

void AddText(CLI::App& app, const OptionText& text, std::string* value) {
  app.add_option(text.names, *value, text.description)
      ->type_name(text.type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(text.group);
}

void AddList(CLI::App& app, const OptionText& text, std::vector<std::string>* values) {
  app.add_option(text.names, *values, text.description)
      ->type_name(text.type)
      ->allow_extra_args(false)
      ->group(text.group);
}

void AddFlag(CLI::App& app, const OptionText& text, bool* value) {
  app.add_flag(text.names, *value, text.description)->group(text.group);
}

void AddPid(CLI::App& app, const OptionText& text, std::optional<int>* pid) {
  AddValue(app, text, [pid](const std::string& value) -> std::string {
    *pid = ParsePid(value);
    return *pid ? "" : "is not a process id";
  });
}

std::optional<double> ParseNumber(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int> ParsePid(const std::string& text) {
  int pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::optional<double> ParseSeconds(const std::string& text) {
  const size_t digits = text.find_last_of("0123456789.");
  if (digits == std::string::npos) return std::nullopt;
  const std::string unit = text.substr(digits + 1);
  const double scale = unit.empty() || unit == "s" ? 1
                       : unit == "ms"              ? 1e-3
                       : unit == "m"               ? 60
                       : unit == "h"               ? 3600
                                                   : 0;
  const auto value = ParseNumber(text.substr(0, digits + 1));
  if (scale == 0 || !value || *value < 0) return std::nullopt;
  return *value * scale;
}

}  // namespace linescope
