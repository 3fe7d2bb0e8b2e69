#pragma once
// Reading a command's own part of the command line. CLI11 holds the definitions and the
// conversions; finding where our part ends, and what is said about mistakes and in --help, is done
// here, so that it reads the same with every version of the library.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace linescope {

// The prose around the list of options, which comes from the definitions.
struct HelpText {
  std::string usage;  // one form a line, without "linescope"
  std::string about;
  std::string closing;  // examples and the like; may be empty
};

// Formats --help for `app`: usage, about, arguments, options by group, closing.
std::string FormatHelp(const CLI::App& app, const HelpText& help);

// Where the options end and the target's part of the command line begins.
struct OptionsEnd {
  // What was met there: nothing, a word that is no option, `--`, or one of `last_options`.
  enum class Kind { kNothing, kWord, kDashes, kLastOption };
  Kind kind = Kind::kNothing;
  size_t index = 0;  // in the arguments: of the word, or of what follows `--` or the option's name
  std::string option;  // kLastOption: which
  std::string value;   // kLastOption: what is glued to it, `-mjson.tool`
};

// Walks over the options of `app` at the start of `arguments`. Those in `last_options` ("-m") begin
// the target's part. Fails with kUsage for unknown options and for missing values.
Result<OptionsEnd> FindOptionsEnd(const CLI::App& app, std::span<const std::string> arguments,
                                  std::span<const std::string> last_options);

// Reads all of `arguments` into what the definitions of `app` are bound to. nullopt: go on.
// Otherwise everything has been said (--help on stdout, or a mistake on stderr) and the value is
// the exit status.
std::optional<int> ParseArguments(CLI::App& app, const HelpText& help,
                                  const std::vector<std::string>& arguments);

// Reports a mistake in the command line of `command` ("run"; empty: none) and returns the exit
// status for it.
int ReportUsageError(const std::string& command, const std::string& what);

// The candidate that `word` is probably a misspelling of; empty when none is near.
std::string ClosestMatch(const std::string& word, std::span<const std::string> candidates);

}  // namespace linescope
