#pragma once
// Which files are the user's own project: the ones that lines, functions and sources are shown for,
// and that the time of library code below them is attributed to.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "source/pattern.h"
#include "source/target_files.h"

namespace linescope {

struct ScopeOptions {
  std::string working_directory = {};  // of the target at its start; absolute
  std::string script = {};   // as on the command line; empty for -m, -c, other programs and attach
  bool code_string = false;  // -c: the code called "<string>" is the user's
  std::string project_root = {};  // --project-root; empty: found
  std::vector<std::string> includes = {}, excludes = {};
  int pid = 0;  // whose file system is meant, see TargetFiles; 0: ours
};

// Where a file stands, and why.
enum class ScopeVerdict : uint8_t {
  kScript,     // the launched script, or -c code: always in the project
  kUnderRoot,  // in the project
  kIncluded,   // in the project: --include names it, wherever it is
  kExcluded,   // --exclude names it; wins over everything but kScript
  kStandardLibrary,
  kInstalled,  // site-packages, a virtual environment, …
  kOutside,    // somewhere else
  kNoFile,     // "<frozen …>", "<string>", …
};
bool IsProject(ScopeVerdict verdict);

// A file as a code object names it.
struct ScopeFile {
  std::string_view file = {};               // co_filename
  std::string_view stdlib_dir = {};         // the interpreter's library folder; empty: unknown
  std::string_view working_directory = {};  // of the process that runs it; empty: ScopeOptions' own
};

// Not thread-safe: remembers what it found out about folders.
class ProjectScope {
 public:
  // Fails with kUsage for a --project-root that is no folder and for patterns that cannot match.
  static Result<ProjectScope> Create(const ScopeOptions& options);

  ScopeVerdict Judge(const ScopeFile& file);
  bool InProject(const ScopeFile& file) { return IsProject(Judge(file)); }

  const std::string& root() const { return root_; }
  // Sentences for the report: the root and why it was chosen, what is included and excluded.
  std::string Describe() const;

 private:
  explicit ProjectScope(int pid) : files_(pid) {}
  Status ChooseRoot(const ScopeOptions& options);
  Status ParsePatterns(const ScopeOptions& options);
  // Where a file stands by one spelling of its path, patterns aside.
  ScopeVerdict JudgePath(std::string_view path, std::string_view stdlib_dir);
  bool Matches(const std::vector<ScopePattern>& patterns, std::string_view path,
               std::string_view stdlib_dir);
  // The dotted names that the file could have been imported by.
  std::vector<std::string> ModuleNames(std::string_view path, std::string_view stdlib_dir);
  bool IsEnvironment(const std::string& folder);
  bool IsPackage(const std::string& folder);

  TargetFiles files_;
  std::string working_directory_;
  std::string root_;            // absolute and clean, links not followed
  std::string canonical_root_;  // links followed
  std::string
      reason_;  // why this root, e.g. "the nearest folder with pyproject.toml above the script"
  std::string script_, canonical_script_;
  bool code_string_ = false;
  std::vector<ScopePattern> includes_, excludes_;
  std::map<std::string, bool> environments_, packages_;  // what is known about folders
};

}  // namespace linescope
