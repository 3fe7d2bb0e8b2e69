#pragma once
// Kinds of options, so that all commands treat their values and mistakes alike. `names` are as
// CLI11 has them
// ("-n,--limit"), `type` stands for the value in --help, `group` is the heading there.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace linescope {

struct OptionText {
  std::string names, type, description, group;
};

// A value that `store` takes, or complains about: "is not a number". Given twice, the last one
// holds.
void AddValue(CLI::App& app, const OptionText& text,
              std::function<std::string(const std::string&)> store);
void AddText(CLI::App& app, const OptionText& text, std::string* value);
// One value each time, every one is kept.
void AddList(CLI::App& app, const OptionText& text, std::vector<std::string>* values);
void AddFlag(CLI::App& app, const OptionText& text, bool* value);
// A positive process id.
void AddPid(CLI::App& app, const OptionText& text, std::optional<int>* pid);

// One of a few words; `text.type` is made of them. `value` may be an optional.
template <class Enum, class Value>
void AddChoice(CLI::App& app, OptionText text, std::vector<std::pair<std::string, Enum>> choices,
               Value* value) {
  text.type.clear();
  for (const auto& choice : choices) text.type += (text.type.empty() ? "" : "|") + choice.first;
  AddValue(app, text,
           [choices = std::move(choices), words = text.type, value](const std::string& word) {
             for (const auto& [name, meaning] : choices) {
               if (name != word) continue;
               *value = meaning;
               return std::string();
             }
             return "is not one of " + words;
           });
}

// Whole text as a finite number.
std::optional<double> ParseNumber(const std::string& text);
// A positive process id; nullopt for anything else.
std::optional<int> ParsePid(const std::string& text);
// Seconds in "90", "1.5", "250ms", "10s", "2m", "1h"; nullopt for anything else and for negative
// ones.
std::optional<double> ParseSeconds(const std::string& text);

}  // namespace linescope
