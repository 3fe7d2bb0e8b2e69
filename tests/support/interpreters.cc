#include "support/interpreters.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "support/python_target.h"
#include "support/test_data.h"

namespace linescope {
namespace {

std::vector<std::string> Split(const char* text) {
  std::vector<std::string> parts;
  std::istringstream stream(text == nullptr ? "" : text);
  for (std::string part; std::getline(stream, part, ':');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> Candidates() {
  if (const char* given = std::getenv("LINESCOPE_PYTHONS")) return Split(given);
  std::vector<std::string> paths;
  std::error_code error;
  const std::filesystem::path made = TestData("../build/pythons");
  for (const auto& version : std::filesystem::directory_iterator(made, error)) {
    paths.push_back(version.path() / "bin" / "python3");
  }
  const char* home = std::getenv("HOME");
  const char* root = std::getenv("PYENV_ROOT");
  const std::filesystem::path pyenv =
      root != nullptr ? root : std::string(home != nullptr ? home : "/root") + "/.pyenv";
  for (const auto& version : std::filesystem::directory_iterator(pyenv / "versions", error)) {
    paths.push_back(version.path() / "bin" / "python3");
  }
  for (const std::string& folder : Split(std::getenv("PATH"))) {
    if (folder.ends_with("/shims")) continue;
    for (int minor = 8; minor <= 15; ++minor) {
      paths.push_back(folder + "/python3." + std::to_string(minor));
      paths.push_back(folder + "/python3." + std::to_string(minor) + "d");
    }
    paths.push_back(folder + "/python3");
  }
  return paths;
}

std::map<int, std::vector<Interpreter>> Find() {
  std::map<int, std::vector<Interpreter>> found;
  std::map<std::string, bool> seen;
  for (const std::string& candidate : Candidates()) {
    std::error_code error;
    const std::string path = std::filesystem::canonical(candidate, error);
    if (error || seen[path]) continue;
    seen[path] = true;
    PythonTarget target(path, {"-S", "-c",
                               "import sys, sysconfig; print(*sys.version_info[:3], "
                               "int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))), "
                               "int(hasattr(sys, 'gettotalrefcount')))"});
    std::istringstream version(target.ReadLine());
    Interpreter python{.path = path};
    int major = 0;
    if (version >> major >> python.minor >> python.micro >> python.free_threaded >> python.debug &&
        major == 3) {
      found[python.minor].push_back(python);
    }
  }
  return found;
}

}  // namespace

std::string Interpreter::Name() const {
  return "Python 3." + std::to_string(minor) + "." + std::to_string(micro) +
         (free_threaded ? "t" : "") + (debug ? "d" : "") + " (" + path + ")";
}

const std::vector<Interpreter>& InterpretersOf(int minor) {
  static std::map<int, std::vector<Interpreter>> all = Find();
  return all[minor];
}

}  // namespace linescope
