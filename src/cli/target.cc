#include "cli/target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "base/unique_fd.h"
#include "cli/terminal.h"
#include "process/launch.h"

namespace linescope {
namespace {

namespace fs = std::filesystem;

template <class... Args>
std::unexpected<TargetError> Refuse(ExitCode code, fmt::format_string<Args...> format,
                                    Args&&... args) {
  return std::unexpected(TargetError{code, fmt::format(format, std::forward<Args>(args)...)});
}

bool IsRegular(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool IsDirectory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string Quoted(const std::string& word) { return "'" + Printable(word) + "'"; }

// What a shell would execute for `name`.
std::expected<std::string, TargetError> FindProgram(const std::string& name) {
  auto program = ResolveProgram(name);
  if (program) return *program;
  return std::unexpected(
      TargetError{static_cast<ExitCode>(program.error().exit_code), program.error().what});
}

std::expected<std::string, TargetError> FindInterpreter(const std::string& python,
                                                        const GetEnv& get_env) {
  if (!python.empty()) {
    if (IsDirectory(python)) {
      // A virtual environment's folder is what people have at hand.
      const std::string inside = python + "/bin/python";
      if (IsRegular(inside)) return inside;
    }
    return FindProgram(python);
  }
  if (const auto environment = get_env("VIRTUAL_ENV"); environment && !environment->empty()) {
    const std::string inside = *environment + "/bin/python";
    if (IsRegular(inside) && ::access(inside.c_str(), X_OK) == 0) return inside;
  }
  for (const char* name : {"python3", "python"})
    if (auto found = FindProgram(name)) return found;
  return Refuse(kExitNotFound,
                "there is no python3 on PATH: activate the program's environment, or name the "
                "interpreter with --python");
}

// The first bytes of a regular file, without reading from a pipe (bash's <(…)): what is read from
// it is lost to Python.
std::string FirstBytes(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string bytes(256, '\0');
  const ssize_t got = file && IsRegular(path) ? ::read(file.get(), bytes.data(), bytes.size()) : 0;
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

bool IsElf(const std::string& first_bytes) {
  return first_bytes.starts_with(
      "\x7f"
      "ELF");
}

// `linescope run python app.py`, `linescope run pytest`, `linescope run ./start.sh`: where a script
// is expected, but what is there cannot be one for Python.
bool IsProgram(const std::string& word) {
  if (word == "-") return false;
  struct stat status{};
  if (::stat(word.c_str(), &status) != 0) {
    return errno == ENOENT && word.find('/') == std::string::npos && FindProgram(word).has_value();
  }
  if (!S_ISREG(status.st_mode) || ::access(word.c_str(), X_OK) != 0) return false;
  const std::string first_bytes = FirstBytes(word);
  if (IsElf(first_bytes)) return true;
  const std::string first_line = first_bytes.substr(0, first_bytes.find('\n'));
  return first_line.starts_with("#!") && first_line.find("python") == std::string::npos &&
         first_line.find("pypy") == std::string::npos;
}

// What Python would refuse is refused here.
std::expected<void, TargetError> CheckScript(const std::string& script) {
  if (script == "-") return {};  // the program comes from stdin
  struct stat status{};
  if (::stat(script.c_str(), &status) != 0) {
    return Refuse(errno == EACCES ? kExitNotRunnable : kExitNotFound,
                  "cannot find the script {}: {}", Quoted(script), ErrnoText());
  }
  if (S_ISDIR(status.st_mode)) {
    if (IsRegular(script + "/__main__.py")) return {};
    return Refuse(
        kExitNotRunnable,
        "{} is a folder without a __main__.py; name the script in it that starts the program",
        Quoted(script));
  }
  if (::access(script.c_str(), R_OK) != 0) {
    return Refuse(kExitNotRunnable, "cannot read the script {}: {}", Quoted(script), ErrnoText());
  }
  if (IsElf(FirstBytes(script))) {
    return Refuse(kExitNotRunnable, "{} is a compiled program or library, not a Python script",
                  Quoted(script));
  }
  return {};
}

// Letters, digits and a few marks; anything else would be a surprise in a file's name.
std::string SafeName(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                       c == '.' || static_cast<unsigned char>(c) >= 0x80;
    name += plain ? c : '_';
  }
  while (!name.empty() && name.front() == '.') name.erase(0, 1);
  return name.empty() ? "program" : name;
}

std::string ScriptName(const std::string& script) {
  if (script == "-") return "stdin";
  std::error_code ignored;
  const fs::path path = fs::absolute(script, ignored).lexically_normal();
  const fs::path last = path.filename().empty() ? path.parent_path().filename() : path.filename();
  return SafeName(last.extension() == ".py" || last.extension() == ".pyw" ||
                          last.extension() == ".pyz"
                      ? last.stem().string()
                      : last.string());
}

bool LooksLikePython(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  std::string_view rest = name;
  for (const std::string_view start : {"python", "pypy"}) {
    if (!rest.starts_with(start)) continue;
    rest.remove_prefix(start.size());
    return std::ranges::all_of(rest, [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == 't' || c == 'd';
    });
  }
  return false;
}

// What an interpreter's own command line runs, so that `run -- python3 -X dev app.py` knows its
// script as `run app.py` does.
void ReadPythonArguments(Target* target) {
  const std::vector<std::string>& words = target->typed;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      target->script = word;
      target->name = ScriptName(word);
      return;
    }
    if (word == "--") continue;
    if (word == "--check-hash-based-pycs") {
      ++i;
      continue;
    }
    if (word[1] == '-') continue;
    for (size_t at = 1; at < word.size(); ++at) {
      const char option = word[at];
      if (option != 'c' && option != 'm' && option != 'W' && option != 'X') continue;
      const bool glued = at + 1 < word.size();
      const std::string value = glued                  ? word.substr(at + 1)
                                : i + 1 < words.size() ? words[i + 1]
                                                       : "";
      if (option == 'c') {
        target->code = value;
        return;
      }
      if (option == 'm') {
        target->name = SafeName(value);
        return;
      }
      if (!glued) ++i;
      break;
    }
  }
}

// The first word stays as it was typed: a program may look at the name it is called by.
std::expected<Target, TargetError> ResolveCommand(const std::vector<std::string>& words) {
  if (auto program = FindProgram(words[0]); !program) return std::unexpected(program.error());
  return DescribeCommand(words);
}

}  // namespace

Target DescribeCommand(const std::vector<std::string>& words) {
  Target target;
  target.command = words;
  target.typed = words;
  target.name = ScriptName(words[0]);
  if (LooksLikePython(words[0])) ReadPythonArguments(&target);
  return target;
}

std::expected<Target, TargetError> ResolveTarget(const TargetWords& words,
                                                 const std::string& python, const GetEnv& get_env) {
  if (words.form == TargetForm::kProgram ||
      (words.form == TargetForm::kScript && python.empty() && IsProgram(words.words[0]))) {
    return ResolveCommand(words.words);
  }
  if (words.form == TargetForm::kScript) {
    if (auto usable = CheckScript(words.words[0]); !usable) return std::unexpected(usable.error());
  }
  auto interpreter = FindInterpreter(python, get_env);
  if (!interpreter) return std::unexpected(interpreter.error());

  Target target;
  target.command = {*interpreter};
  target.typed = {"python3"};
  const std::string& subject = words.words[0];
  std::vector<std::string> arguments;
  switch (words.form) {
    case TargetForm::kScript:
      target.script = subject == "-" ? "" : subject;
      target.name = ScriptName(subject);
      // A name that starts with a dash would be an option to Python.
      if (subject.size() > 1 && subject[0] == '-') arguments.push_back("--");
      break;
    case TargetForm::kModule:
      target.name = SafeName(subject);
      arguments.push_back("-m");
      break;
    case TargetForm::kCode:
      target.name = "code";
      target.code = subject;
      arguments.push_back("-c");
      break;
    case TargetForm::kProgram:
      break;
  }
  arguments.insert(arguments.end(), words.words.begin(), words.words.end());
  target.command.insert(target.command.end(), arguments.begin(), arguments.end());
  target.typed.insert(target.typed.end(), arguments.begin(), arguments.end());
  return target;
}

}  // namespace linescope
