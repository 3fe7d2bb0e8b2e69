#include "report/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/file_name.h"
#include "source/pattern.h"

namespace linescope {
namespace {

constexpr std::string_view kFrozen = "<frozen ";

using Group = std::pair<std::string, LeftOutReason>;

// "numpy" of "numpy/linalg/_linalg.py" and of "numpy.py".
std::string TopModule(std::string_view inside) {
  std::string_view name = inside.substr(0, inside.find('/'));
  return std::string(name.substr(0, name.find('.')));
}

// What stands behind `folder` in the path; nullopt: it is not part of it.
std::optional<std::string_view> Behind(std::string_view path, std::string_view folder) {
  const size_t at = path.rfind(folder);
  if (at == std::string_view::npos) return std::nullopt;
  return path.substr(at + folder.size());
}

// What stands behind ".../lib/python3.13/", ".../lib/python3.13t/" or ".../lib/pypy3.10/".
std::optional<std::string_view> InLibraryFolder(std::string_view path) {
  for (size_t at = path.find("/lib"); at != std::string_view::npos;
       at = path.find("/lib", at + 1)) {
    const size_t name = path.find('/', at + 1);
    if (name == std::string_view::npos) return std::nullopt;
    const std::string_view folder = path.substr(name + 1, path.find('/', name + 1) - name - 1);
    if (folder.starts_with("python3") && name + 1 + folder.size() < path.size())
      return path.substr(name + folder.size() + 2);
  }
  // The library as one archive: ".../python311.zip/json/decoder.py".
  const size_t zip = path.find(".zip/");
  if (zip != std::string_view::npos && FileName(path.substr(0, zip)).starts_with("python3"))
    return path.substr(zip + 5);
  return std::nullopt;
}

// `path` below `folder` as the name it would be imported by.
std::string DottedName(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return "";
  std::string name(path.substr(folder.size()));
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  while (name.starts_with('/')) name.erase(0, 1);
  std::ranges::replace(name, '/', '.');
  return name;
}

class Classifier {
 public:
  explicit Classifier(const RunInfo& run) : root_(run.project_root) {
    for (const std::string& text : run.excludes) {
      // What was accepted then is accepted now, except in a damaged profile.
      if (auto pattern = ScopePattern::Parse(text, root_, ""))
        excludes_.push_back(std::move(*pattern));
    }
  }

  Group Of(std::string_view path, FunctionKind kind) const {
    if (kind == FunctionKind::kNative)
      return {path.empty() ? "unknown" : std::string(FileName(path)), LeftOutReason::kNative};
    if (kind == FunctionKind::kTask) return {"asyncio tasks", LeftOutReason::kTask};
    if (path.starts_with(kFrozen)) {
      path.remove_prefix(kFrozen.size());
      return {fmt::format("<frozen {}>", path.substr(0, path.find_first_of(".>"))),
              LeftOutReason::kNoFile};
    }
    if (path.empty() || path.starts_with('<')) return {std::string(path), LeftOutReason::kNoFile};
    for (const ScopePattern& pattern : excludes_) {
      const bool matches = pattern.is_path() ? pattern.MatchesPath(path)
                                             : pattern.MatchesModule(DottedName(path, root_));
      if (matches) return {pattern.text(), LeftOutReason::kExcluded};
    }
    for (const char* folder : {"/site-packages/", "/dist-packages/"}) {
      if (const auto inside = Behind(path, folder))
        return {TopModule(*inside), LeftOutReason::kInstalled};
    }
    if (const auto inside = InLibraryFolder(path))
      return {TopModule(*inside), LeftOutReason::kStandardLibrary};
    return {std::string(path.substr(0, path.size() - FileName(path).size())),
            LeftOutReason::kOutside};
  }

 private:
  std::string root_;
  std::vector<ScopePattern> excludes_;
};

}  // namespace

std::vector<LeftOut> LeftOutCode(const Profile& profile, const RunInfo& run, size_t most) {
  const Classifier classifier(run);
  std::vector<FunctionKind> kinds(profile.files.size(), FunctionKind::kPython);
  for (FunctionId id = 0; id < profile.functions.size(); ++id)
    kinds[profile.function_file[id]] = profile.functions[id].kind;

  std::map<Group, LeftOut> groups;
  for (FileId id = 0; id < profile.files.size(); ++id) {
    const FileStats& file = profile.files[id];
    if (file.in_project || file.inclusive.samples == 0) continue;
    Group group = classifier.Of(file.path, kinds[id]);
    LeftOut& left_out = groups[group];
    std::tie(left_out.name, left_out.reason) = std::move(group);
    ++left_out.files;
    left_out.cost += file.self;
  }

  std::vector<LeftOut> out;
  for (auto& [group, left_out] : groups) out.push_back(std::move(left_out));
  std::ranges::stable_sort(out, [&](const LeftOut& a, const LeftOut& b) {
    return std::tuple(profile.Time(a.cost), a.cost.samples) >
           std::tuple(profile.Time(b.cost), b.cost.samples);
  });
  if (out.size() > most + 1) {
    LeftOut rest{.reason = LeftOutReason::kRest};
    for (size_t i = most; i < out.size(); ++i) {
      rest.files += out[i].files;
      rest.cost += out[i].cost;
    }
    out.resize(most);
    out.push_back(std::move(rest));
  }
  return out;
}

}  // namespace linescope
