#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "cli/exit_codes.h"
#include "cli/terminal.h"

namespace linescope {
namespace {

// Column where descriptions begin, and where lines end.
constexpr size_t kDescriptionColumn = 28;
constexpr size_t kHelpWidth = 80;

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "-o, --output FILE"
std::string OptionForms(const CLI::Option& option) {
  std::string forms;
  for (const std::string& name : option.get_snames()) forms += "-" + name + ", ";
  for (const std::string& name : option.get_lnames()) forms += "--" + name + ", ";
  if (forms.size() >= 2) forms.resize(forms.size() - 2);
  if (forms.empty()) return option.get_name(true);
  if (option.get_snames().empty()) forms.insert(0, "    ");
  if (TakesValue(option)) forms += " " + option.get_type_name();
  return forms;
}

void AppendEntry(const std::string& forms, const std::string& description, std::string* out) {
  std::string line = "  " + forms;
  if (line.size() + 2 > kDescriptionColumn) {
    *out += line + "\n";
    line.clear();
  }
  line.resize(kDescriptionColumn, ' ');
  size_t at = 0;
  bool fresh = true;
  while (at < description.size()) {
    size_t end = description.find(' ', at);
    if (end == std::string::npos) end = description.size();
    const std::string word = description.substr(at, end - at);
    if (!fresh && line.size() + 1 + word.size() > kHelpWidth) {
      *out += line + "\n";
      line.assign(kDescriptionColumn, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
    at = end + 1;
  }
  *out += line + "\n";
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::unexpected<Error> UnknownOption(const CLI::App& app, const std::string& word) {
  const std::string match = ClosestMatch(word, OptionNames(app));
  return Fail(ErrorCode::kUsage, "unknown option '{}'{}", Printable(word),
              match.empty() ? "" : fmt::format("; did you mean '{}'?", match));
}

// One word that starts with a dash, and how many words it takes with its value.
struct OptionWord {
  size_t words = 1;
  std::optional<OptionsEnd> last;
};

Result<OptionWord> ReadLong(const CLI::App& app, std::span<const std::string> rest) {
  const size_t equals = rest[0].find('=');
  const std::string name = rest[0].substr(0, equals);
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return UnknownOption(app, name);
  if (!TakesValue(*option)) {
    if (equals != std::string::npos) return Fail(ErrorCode::kUsage, "'{}' takes no value", name);
    return OptionWord{};
  }
  if (equals != std::string::npos) return OptionWord{};
  if (rest.size() < 2)
    return Fail(ErrorCode::kUsage, "'{}' needs a value: {} {}", name, name,
                option->get_type_name());
  return OptionWord{2, std::nullopt};
}

// -v, -qv, -oFILE, -o FILE
Result<OptionWord> ReadShort(const CLI::App& app, std::span<const std::string> rest,
                             std::span<const std::string> last_options) {
  const std::string& word = rest[0];
  for (size_t i = 1; i < word.size(); ++i) {
    const std::string name = {'-', word[i]};
    if (std::ranges::find(last_options, name) != last_options.end()) {
      OptionsEnd end{OptionsEnd::Kind::kLastOption, 1, name, word.substr(i + 1)};
      return OptionWord{1, end};
    }
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) return UnknownOption(app, i == 1 ? word : name);
    if (!TakesValue(*option)) continue;
    if (i + 1 < word.size()) return OptionWord{};
    if (rest.size() < 2)
      return Fail(ErrorCode::kUsage, "'{}' needs a value: {} {}", name, name,
                  option->get_type_name());
    return OptionWord{2, std::nullopt};
  }
  return OptionWord{};
}

Result<OptionWord> ReadOptionWord(const CLI::App& app, std::span<const std::string> rest,
                                  std::span<const std::string> last_options) {
  return rest[0].starts_with("--") ? ReadLong(app, rest) : ReadShort(app, rest, last_options);
}

bool IsOptionWord(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// Everything about `arguments` that depends on no value: unknown options, missing values, too many
// or too few arguments.
Status CheckForm(const CLI::App& app, std::span<const std::string> arguments) {
  size_t allowed = 0;
  std::vector<std::string> required;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    ++allowed;
    if (option->get_required()) required.push_back(option->get_name(true));
  }
  std::vector<std::string> words;
  for (size_t i = 0; i < arguments.size();) {
    if (arguments[i] == "--") {
      words.insert(words.end(), arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (!IsOptionWord(arguments[i])) {
      words.push_back(arguments[i++]);
      continue;
    }
    LS_TRY(option, ReadOptionWord(app, arguments.subspan(i), {}));
    i += option.words;
  }
  if (words.size() > allowed)
    return Fail(ErrorCode::kUsage, "unexpected argument '{}'", Printable(words[allowed]));
  if (words.size() < required.size())
    return Fail(ErrorCode::kUsage, "{} is missing", required[words.size()]);
  return {};
}

bool AsksForHelp(const CLI::App& app, std::span<const std::string> arguments) {
  for (size_t i = 0; i < arguments.size();) {
    if (arguments[i] == "--") return false;
    if (arguments[i] == "--help" || arguments[i] == "-h") return true;
    const auto option =
        IsOptionWord(arguments[i]) ? ReadOptionWord(app, arguments.subspan(i), {}) : OptionWord{};
    i += option ? option->words : 1;
  }
  return false;
}

// Letters to insert, delete, change or swap with their neighbour.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const size_t change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({change, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string FormatHelp(const CLI::App& app, const HelpText& help) {
  std::string out = "Usage:\n";
  for (size_t at = 0; at < help.usage.size();) {
    const size_t end = std::min(help.usage.find('\n', at), help.usage.size());
    out += "  linescope " + help.usage.substr(at, end - at) + "\n";
    at = end + 1;
  }
  out += "\n" + help.about + "\n";
  std::string positionals;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      AppendEntry(option->get_name(true), option->get_description(), &positionals);
  if (!positionals.empty()) out += "\nArguments:\n" + positionals;
  for (const std::string& group : app.get_groups()) {
    std::string entries;
    for (const CLI::Option* option : app.get_options())
      if (!option->get_positional() && option->get_group() == group)
        AppendEntry(OptionForms(*option), option->get_description(), &entries);
    if (!entries.empty() && !group.empty()) out += "\n" + group + ":\n" + entries;
  }
  if (!help.closing.empty()) out += "\n" + help.closing + "\n";
  return out;
}

Result<OptionsEnd> FindOptionsEnd(const CLI::App& app, std::span<const std::string> arguments,
                                  std::span<const std::string> last_options) {
  for (size_t i = 0; i < arguments.size();) {
    if (arguments[i] == "--") return OptionsEnd{OptionsEnd::Kind::kDashes, i + 1, "", ""};
    if (!IsOptionWord(arguments[i])) return OptionsEnd{OptionsEnd::Kind::kWord, i, "", ""};
    LS_TRY(word, ReadOptionWord(app, arguments.subspan(i), last_options));
    if (word.last) {
      word.last->index += i;
      return *word.last;
    }
    i += word.words;
  }
  return OptionsEnd{OptionsEnd::Kind::kNothing, arguments.size(), "", ""};
}

std::optional<int> ParseArguments(CLI::App& app, const HelpText& help,
                                  const std::vector<std::string>& arguments) {
  if (AsksForHelp(app, arguments)) {
    return WriteStdout(FormatHelp(app, help)) ? kExitOk : kExitFile;
  }
  if (auto form = CheckForm(app, arguments); !form)
    return ReportUsageError(app.get_name(), form.error().what);
  try {
    // CLI11 takes the words last first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Error& error) {
    return ReportUsageError(app.get_name(), error.what());
  }
  return std::nullopt;
}

int ReportUsageError(const std::string& command, const std::string& what) {
  PrintError(what);
  PrintNote(fmt::format("see 'linescope {}{}--help'", command, command.empty() ? "" : " "));
  return kExitUsage;
}

std::string ClosestMatch(const std::string& word, std::span<const std::string> candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // A name that is begun is as good as a near miss.
    if (word.size() > 3 && candidate.starts_with(word)) return candidate;
    const size_t distance = EditDistance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

}  // namespace linescope
