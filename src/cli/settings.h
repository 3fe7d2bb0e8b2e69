#pragma once
// Options from elsewhere than the command line: LINESCOPE_… in the environment, and a file:
// linescope.toml, or [tool.linescope] in pyproject.toml. The command line wins, then the
// environment, then the file.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/environment.h"

namespace CLI {
class App;
}

namespace linescope {

// One option set outside the command line.
struct Setting {
  std::string key;                  // the option's long name without dashes
  std::vector<std::string> values;  // more than one only for options that may be repeated
  std::string origin;  // for messages: "LINESCOPE_RATE", "pyproject.toml, line 12: rate"
};

// The options of `app` that the environment sets. Several values of one option stand between
// commas.
std::vector<Setting> SettingsFromEnvironment(const CLI::App& app, const GetEnv& get_env);

// The file that holds the settings for `folder`: the nearest linescope.toml, or pyproject.toml with
// a table of ours, in it or above it. nullopt: there is none.
Result<std::optional<std::filesystem::path>> FindSettingsFile(const std::filesystem::path& folder);

// The options that `file` sets. Relative paths in it are relative to its folder. Fails with kUsage,
// naming file, line and key, for keys that are no options of `app` and for values of a wrong kind.
Result<std::vector<Setting>> SettingsFromFile(const CLI::App& app,
                                              const std::filesystem::path& file);

// Gives `app`, which has read its command line, what `settings` say about options that are not set
// yet. Fails with kUsage, naming the origin.
Status ApplySettings(CLI::App& app, const std::vector<Setting>& settings);

// All of the above for a command started in `folder`. The file's path, if there is one, is returned
// for --verbose.
Result<std::optional<std::filesystem::path>> LoadSettings(CLI::App& app,
                                                          const std::filesystem::path& folder,
                                                          const GetEnv& get_env);

}  // namespace linescope
