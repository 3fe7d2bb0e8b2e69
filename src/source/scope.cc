#include "source/scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

namespace linescope {
namespace {

constexpr std::string_view kMarkers[] = {"pyproject.toml", "setup.cfg", "setup.py", ".git"};

// Folders that hold what tools installed. "env" is not among them: it is as often a package of the
// project; an environment of that name is known by its pyvenv.cfg.
constexpr std::string_view kInstallFolders[] = {
    "site-packages", "dist-packages", ".venv",          "venv",  ".tox",        ".nox",
    ".eggs",         "node_modules",  "__pypackages__", ".pixi", ".virtualenvs"};

// Where a system keeps its own; not the user's even when the project's root is "/".
constexpr std::string_view kSystemFolders[] = {"/usr",  "/bin", "/sbin", "/lib", "/lib64", "/etc",
                                               "/proc", "/sys", "/dev",  "/run", "/boot",  "/nix"};

std::string Folder(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? "/" : std::string(path.substr(0, slash));
}

std::string Join(std::string_view folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder == "/" ? "" : "/", name);
}

std::string Home() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? AbsolutePath(home, "/") : std::string();
}

// `path` below `folder`, without a leading slash; nothing when it is elsewhere.
std::optional<std::string_view> Below(std::string_view path, std::string_view folder) {
  if (folder.empty() || !IsUnder(path, folder)) return std::nullopt;
  path.remove_prefix(folder == "/" ? 1 : std::min(folder.size() + 1, path.size()));
  return path;
}

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) names.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return names;
}

// "python3.12", "python3.13t", "pypy3.10"; not "python" or "python_tools".
bool IsVersionedPython(std::string_view name) {
  for (std::string_view prefix : {"python", "pypy"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) &&
           name.find('.') != name.npos;
  }
  return false;
}

// A standard library in an archive: "python312.zip".
bool IsLibraryArchive(std::string_view name) {
  return name.starts_with("python3") && name.ends_with(".zip");
}

// What the folders of a path tell. The last name, the file's own, is not looked at.
ScopeVerdict JudgeFolders(const std::vector<std::string_view>& names) {
  ScopeVerdict verdict = ScopeVerdict::kOutside;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    if (std::ranges::find(kInstallFolders, names[i]) != std::end(kInstallFolders)) {
      return ScopeVerdict::kInstalled;
    }
    const bool in_lib = i > 0 && (names[i - 1] == "lib" || names[i - 1] == "lib64");
    if ((in_lib && IsVersionedPython(names[i])) || IsLibraryArchive(names[i])) {
      verdict = ScopeVerdict::kStandardLibrary;
    }
  }
  return verdict;
}

std::string ModuleName(std::string_view relative) {
  const size_t name = relative.rfind('/') + 1;  // npos + 1 is 0
  relative = relative.substr(0, std::min(relative.find('.', name), relative.size()));
  constexpr std::string_view kInit = "__init__";
  if (relative == kInit) return {};
  if (relative.ends_with("/__init__")) relative.remove_suffix(kInit.size() + 1);
  std::string module(relative);
  std::ranges::replace(module, '/', '.');
  return module;
}

std::string PatternList(const std::vector<ScopePattern>& patterns) {
  std::vector<std::string_view> texts;
  for (const ScopePattern& pattern : patterns) texts.push_back(pattern.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

bool IsProject(ScopeVerdict verdict) {
  return verdict == ScopeVerdict::kScript || verdict == ScopeVerdict::kUnderRoot ||
         verdict == ScopeVerdict::kIncluded;
}

Result<ProjectScope> ProjectScope::Create(const ScopeOptions& options) {
  ProjectScope scope(options.pid);
  scope.working_directory_ = AbsolutePath(options.working_directory, "/");
  scope.code_string_ = options.code_string;
  if (!options.script.empty()) {
    scope.script_ = AbsolutePath(options.script, scope.working_directory_);
    scope.canonical_script_ = scope.files_.Canonical(scope.script_);
  }
  LS_CHECK_OK(scope.ChooseRoot(options));
  LS_CHECK_OK(scope.ParsePatterns(options));
  return scope;
}

Status ProjectScope::ChooseRoot(const ScopeOptions& options) {
  if (!options.project_root.empty()) {
    root_ = AbsolutePath(options.project_root, working_directory_);
    reason_ = "given by --project-root";
    if (!files_.IsDirectory(root_)) {
      return Fail(ErrorCode::kUsage, "the project root {} is not a folder", root_);
    }
  } else {
    // Python itself follows links of the script before it takes its folder as the first of
    // sys.path.
    const bool has_script = !script_.empty();
    const bool is_folder = has_script && files_.IsDirectory(canonical_script_);
    root_ = !has_script ? working_directory_
            : is_folder ? canonical_script_
                        : Folder(canonical_script_);
    const std::string_view start = has_script ? "script" : "working directory";
    reason_ = has_script ? "the script's folder" : "the working directory";
    const std::string home = Home();
    for (std::string folder = root_;; folder = Folder(folder)) {
      for (std::string_view marker : kMarkers) {
        // A repository of the home folder holds settings, not a project.
        if (marker == ".git" && (folder == home || folder == "/")) continue;
        if (!files_.Exists(Join(folder, marker))) continue;
        root_ = folder;
        reason_ = fmt::format("the nearest folder with {} above the {}", marker, start);
        canonical_root_ = files_.Canonical(root_);
        return {};
      }
      if (folder == "/") break;
    }
  }
  canonical_root_ = files_.Canonical(root_);
  return {};
}

Status ProjectScope::ParsePatterns(const ScopeOptions& options) {
  const std::string home = Home();
  for (const std::string& text : options.includes) {
    LS_TRY(pattern, ScopePattern::Parse(text, root_, home));
    includes_.push_back(std::move(pattern));
  }
  for (const std::string& text : options.excludes) {
    LS_TRY(pattern, ScopePattern::Parse(text, root_, home));
    excludes_.push_back(std::move(pattern));
  }
  return {};
}

ScopeVerdict ProjectScope::Judge(const ScopeFile& file) {
  if (IsPseudoFile(file.file)) {
    return code_string_ && file.file == "<string>" ? ScopeVerdict::kScript : ScopeVerdict::kNoFile;
  }
  const std::string path = AbsolutePath(
      file.file, file.working_directory.empty() ? working_directory_ : file.working_directory);
  const std::string canonical = files_.Canonical(path);
  if (!script_.empty() && (path == script_ || canonical == canonical_script_)) {
    return ScopeVerdict::kScript;
  }
  // A file can be reached by its own path and through links. It belongs when one of the two says
  // so; the standard library and what is excluded stay out by either.
  std::vector<std::string_view> spellings = {path};
  if (canonical != path) spellings.push_back(canonical);
  for (std::string_view spelling : spellings) {
    if (Matches(excludes_, spelling, file.stdlib_dir)) return ScopeVerdict::kExcluded;
  }
  for (std::string_view spelling : spellings) {
    if (Matches(includes_, spelling, file.stdlib_dir)) return ScopeVerdict::kIncluded;
  }
  ScopeVerdict verdict = ScopeVerdict::kOutside;
  for (std::string_view spelling : spellings) {
    const ScopeVerdict one = JudgePath(spelling, file.stdlib_dir);
    if (one == ScopeVerdict::kStandardLibrary) return one;
    if (one == ScopeVerdict::kUnderRoot || verdict == ScopeVerdict::kOutside) verdict = one;
  }
  return verdict;
}

ScopeVerdict ProjectScope::JudgePath(std::string_view path, std::string_view stdlib_dir) {
  // Folders at and above the root say nothing: a project may lie in a folder called
  // "lib/python3.12".
  std::string_view root = root_;
  std::optional<std::string_view> below = Below(path, root_);
  if (!below) {
    root = canonical_root_;
    below = Below(path, canonical_root_);
  }
  const std::vector<std::string_view> names = Split(below ? *below : path);
  const ScopeVerdict by_folders = JudgeFolders(names);
  if (by_folders != ScopeVerdict::kOutside) return by_folders;
  if (!stdlib_dir.empty() && IsUnder(path, stdlib_dir) && !(below && IsUnder(root, stdlib_dir))) {
    return ScopeVerdict::kStandardLibrary;
  }
  if (!below) return ScopeVerdict::kOutside;
  std::string folder(root);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    folder = Join(folder, names[i]);
    if (IsEnvironment(folder)) return ScopeVerdict::kInstalled;
  }
  if (root == "/") {
    for (std::string_view system : kSystemFolders) {
      if (IsUnder(path, system)) return ScopeVerdict::kOutside;
    }
  }
  return ScopeVerdict::kUnderRoot;
}

bool ProjectScope::Matches(const std::vector<ScopePattern>& patterns, std::string_view path,
                           std::string_view stdlib_dir) {
  std::optional<std::vector<std::string>> modules;
  for (const ScopePattern& pattern : patterns) {
    if (pattern.MatchesPath(path)) return true;
    if (pattern.is_path()) continue;
    if (!modules) modules = ModuleNames(path, stdlib_dir);
    for (const std::string& module : *modules) {
      if (pattern.MatchesModule(module)) return true;
    }
  }
  return false;
}

std::vector<std::string> ProjectScope::ModuleNames(std::string_view path,
                                                   std::string_view stdlib_dir) {
  std::vector<std::string> modules;
  const auto add = [&](std::optional<std::string_view> relative) {
    if (relative && !relative->empty()) modules.push_back(ModuleName(*relative));
  };
  for (std::string_view installed : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(installed);
    if (at == path.npos) continue;
    add(path.substr(at + installed.size()));
    return modules;
  }
  if (auto library = Below(path, stdlib_dir)) {
    add(library);
    return modules;
  }
  for (const std::string& root : {root_, canonical_root_}) {
    add(Below(path, root));
    for (std::string_view sources : {"src", "lib"}) add(Below(path, Join(root, sources)));
  }
  if (!script_.empty()) add(Below(path, Folder(canonical_script_)));
  std::string package = Folder(path);
  while (package != "/" && IsPackage(package)) package = Folder(package);
  add(Below(path, package));
  return modules;
}

bool ProjectScope::IsEnvironment(const std::string& folder) {
  auto [entry, is_new] = environments_.try_emplace(folder);
  if (is_new) {
    entry->second =
        files_.Exists(Join(folder, "pyvenv.cfg")) || files_.IsDirectory(Join(folder, "conda-meta"));
  }
  return entry->second;
}

bool ProjectScope::IsPackage(const std::string& folder) {
  auto [entry, is_new] = packages_.try_emplace(folder);
  if (is_new) entry->second = files_.Exists(Join(folder, "__init__.py"));
  return entry->second;
}

std::string ProjectScope::Describe() const {
  std::string text = fmt::format(
      "Files under {} ({}), without the standard library and installed packages.", root_, reason_);
  if (root_ == "/") text += " System folders such as /usr are left out too.";
  if (!script_.empty() && !IsUnder(canonical_script_, canonical_root_)) {
    text += fmt::format(" The script {} lies elsewhere and belongs to it.", script_);
  }
  if (code_string_) text += " The code given by -c belongs to it.";
  if (!includes_.empty()) text += fmt::format(" Included as well: {}.", PatternList(includes_));
  if (!excludes_.empty()) text += fmt::format(" Excluded: {}.", PatternList(excludes_));
  return text;
}

}  // namespace linescope
