#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "compare/significance.h"
#include "report/format.h"

namespace linescope {
namespace {

const char* ModeText(const RunData& run) {
  if (run.mode == "cpu") return "time on a CPU";
  if (run.mode == "gil") return "time holding the GIL";
  return run.idle ? "wall time" : "wall time without idle threads";
}

class Comparer {
 public:
  Comparer(RunData base, RunData now) {
    out_.base = std::move(base);
    out_.now = std::move(now);
  }

  Result<Comparison> Run(Scaling scaling) && {
    LS_CHECK_OK(ChooseScale(scaling));
    out_.matching = Match(out_.base, out_.now);
    AddNotes();
    out_.total = ChangeOf(out_.base.total, out_.now.total);
    out_.project = ChangeOf(out_.base.project, out_.now.project);
    Judge({&out_.total, &out_.project});
    AddFiles();
    AddFunctions();
    AddLines();
    return std::move(out_);
  }

 private:
  Status ChooseScale(Scaling scaling) {
    const std::string base = ModeText(out_.base), now = ModeText(out_.now);
    if (base != now)
      return Fail(ErrorCode::kUsage,
                  "the two runs count different things and cannot be compared: {} {}, {} {}; "
                  "profile both in the same --mode",
                  out_.base.origin, base, out_.now.origin, now);
    if (scaling == Scaling::kAuto)
      scaling = out_.base.whole && out_.now.whole ? Scaling::kNone : Scaling::kElapsed;
    if (scaling == Scaling::kNone) return {};
    if (out_.base.elapsed_ns.value_or(0) <= 0 || out_.now.elapsed_ns.value_or(0) <= 0)
      return Fail(ErrorCode::kUsage,
                  "one of the two runs does not say how long it lasted, so its times cannot be "
                  "scaled: compare them as they are with --scale none");
    out_.scaled = true;
    out_.scale =
        static_cast<double>(*out_.base.elapsed_ns) / static_cast<double>(*out_.now.elapsed_ns);
    return {};
  }

  void AddNotes() {
    const auto differ = [&](const char* what, const std::string& base, const std::string& now) {
      if (!base.empty() && !now.empty() && base != now)
        out_.notes.push_back(fmt::format("{} differ: {} and {}", what, base, now));
    };
    differ("hosts", out_.base.host, out_.now.host);
    differ("versions of Python", out_.base.python, out_.now.python);
    const auto without_source = [](const RunData& run) {
      return std::ranges::count_if(
          run.files, [](const RunFile& file) { return !file.has_source && file.cost.samples > 0; });
    };
    if (const auto count = without_source(out_.base) + without_source(out_.now); count > 0) {
      out_.notes.push_back(
          fmt::format("{} {} no source in the profile: lines there are matched by their numbers",
                      count, count == 1 ? "file has" : "files have"));
    }
  }

  [[nodiscard]] Change ChangeOf(const RunCost& base, const RunCost& now) const {
    Change change{.base = base, .now = now, .now_scaled_ns = 0};
    change.now_scaled_ns = static_cast<int64_t>(
        std::llround(std::min(static_cast<double>(now.time_ns) * out_.scale, 9e18)));
    if (!out_.scaled) change.now_scaled_ns = now.time_ns;
    change.delta_ns = change.now_scaled_ns - base.time_ns;
    change.chance = ChanceOfDifference(base.samples, Weight(base, out_.base.total, 1), now.samples,
                                       Weight(now, out_.now.total, out_.scale));
    return change;
  }

  // What a sample stands for: there, or where there is none, in the whole run.
  static double Weight(const RunCost& cost, const RunCost& total, double scale) {
    const RunCost& from = cost.samples > 0 && cost.time_ns > 0 ? cost : total;
    if (from.samples == 0) return 0;
    return static_cast<double>(from.time_ns) / static_cast<double>(from.samples) * scale;
  }

  static void Judge(const std::vector<Change*>& changes) {
    std::vector<double> chances;
    for (const Change* change : changes) chances.push_back(change->chance);
    const std::vector<bool> real = Discoveries(chances, kFalseDiscoveries);
    for (size_t i = 0; i < changes.size(); ++i)
      changes[i]->noise = !real[i] || changes[i]->delta_ns == 0;
  }

  template <class Row, class Place>
  static void JudgeAndSort(std::vector<Row>& rows, Place place) {
    std::vector<Change*> changes;
    for (Row& row : rows) changes.push_back(&row.change);
    Judge(changes);
    std::ranges::sort(rows, {}, [&](const Row& row) {
      const int64_t delta = row.change.delta_ns;
      return std::tuple(-std::abs(delta), -delta, place(row));
    });
  }

  void AddFiles() {
    std::vector<bool> taken(out_.base.files.size());
    for (uint32_t now = 0; now < out_.now.files.size(); ++now) {
      const auto base = out_.matching.file[now];
      if (base) taken[*base] = true;
      const RunCost before = base ? out_.base.files[*base].cost : RunCost{};
      AddFile(base, now, before, out_.now.files[now].cost);
    }
    for (uint32_t base = 0; base < taken.size(); ++base) {
      if (!taken[base]) AddFile(base, std::nullopt, out_.base.files[base].cost, {});
    }
    JudgeAndSort(out_.files, [this](const FileChange& file) { return PlaceOf(out_, file); });
  }

  void AddFile(std::optional<uint32_t> base, std::optional<uint32_t> now, const RunCost& before,
               const RunCost& after) {
    if (before.samples + after.samples > 0)
      out_.files.push_back({base, now, ChangeOf(before, after)});
  }

  void AddFunctions() {
    std::vector<bool> taken(out_.base.functions.size());
    const auto add = [&](std::optional<uint32_t> base, std::optional<uint32_t> now) {
      const RunCost before = base ? out_.base.functions[*base].cost : RunCost{};
      const RunCost after = now ? out_.now.functions[*now].cost : RunCost{};
      if (before.samples + after.samples > 0)
        out_.functions.push_back({base, now, ChangeOf(before, after)});
    };
    for (uint32_t now = 0; now < out_.now.functions.size(); ++now) {
      const auto base = out_.matching.function[now];
      if (base) taken[*base] = true;
      add(base, now);
    }
    for (uint32_t base = 0; base < taken.size(); ++base) {
      if (!taken[base]) add(base, std::nullopt);
    }
    JudgeAndSort(out_.functions, [](const FunctionChange& function) {
      return std::tuple(function.now.value_or(UINT32_MAX), function.base.value_or(UINT32_MAX));
    });
  }

  void AddLines() {
    std::map<std::pair<uint32_t, uint32_t>, RunCost> before;  // of the base, not accounted for yet
    for (uint32_t file = 0; file < out_.base.files.size(); ++file) {
      for (const RunLine& line : out_.base.files[file].lines) before[{file, line.line}] = line.cost;
    }
    const auto take = [&](uint32_t file, uint32_t line) {
      const auto found = before.find({file, line});
      if (found == before.end()) return RunCost{};
      const RunCost cost = found->second;
      before.erase(found);
      return cost;
    };
    for (uint32_t file = 0; file < out_.now.files.size(); ++file) {
      std::map<uint32_t, RunCost> costs;
      for (const RunLine& line : out_.now.files[file].lines) costs[line.line] = line.cost;
      const auto add = [&](uint32_t number, const BaseLine& match) {
        const auto found = costs.find(number);
        const RunCost after = found == costs.end() ? RunCost{} : found->second;
        if (found != costs.end()) costs.erase(found);
        LineChange line;
        line.kind = match.kind;
        line.now_file = file;
        line.now_line = number;
        RunCost cost;
        if (match.kind != MatchKind::kNone) {
          line.base_file = match.file;
          line.base_line = match.line;
          cost = take(match.file, match.line);
        }
        if (cost.samples + after.samples == 0) return;
        line.change = ChangeOf(cost, after);
        out_.lines.push_back(line);
      };
      const auto& matches = out_.matching.line[file];
      for (uint32_t i = 0; i < matches.size(); ++i) {
        if (matches[i].kind != MatchKind::kNone || costs.contains(i + 1)) add(i + 1, matches[i]);
      }
      // Without a text the number is all that is known of a line.
      const auto base = out_.matching.file[file];
      const bool by_number =
          base && (!out_.now.files[file].has_source || !out_.base.files[*base].has_source);
      for (const RunLine& line : out_.now.files[file].lines) {
        if (!costs.contains(line.line)) continue;
        add(line.line, by_number ? BaseLine{MatchKind::kSame, *base, line.line} : BaseLine{});
      }
    }
    for (const auto& [place, cost] : before) {
      LineChange line;
      line.base_file = place.first;
      line.base_line = place.second;
      line.change = ChangeOf(cost, {});
      out_.lines.push_back(line);
    }
    JudgeAndSort(out_.lines, [](const LineChange& line) {
      return std::tuple(line.now_file.value_or(UINT32_MAX), line.now_line,
                        line.base_file.value_or(UINT32_MAX), line.base_line);
    });
  }

  Comparison out_;
};

}  // namespace

std::optional<double> Change::relative() const {
  if (base.time_ns <= 0) return std::nullopt;
  return static_cast<double>(delta_ns) / static_cast<double>(base.time_ns);
}

Result<Comparison> Compare(RunData base, RunData now, const CompareOptions& options) {
  return Comparer(std::move(base), std::move(now)).Run(options.scaling);
}

std::string PlaceOf(const Comparison& comparison, const LineChange& line) {
  return line.now_file
             ? fmt::format("{}:{}", comparison.now.files[*line.now_file].place, line.now_line)
             : fmt::format("{}:{}", comparison.base.files[*line.base_file].place, line.base_line);
}

std::string PlaceOf(const Comparison& comparison, const FileChange& file) {
  if (!file.now) return comparison.base.files[*file.base].place;
  const std::string& place = comparison.now.files[*file.now].place;
  if (!file.base || comparison.base.files[*file.base].place == place) return place;
  return place + " (was " + comparison.base.files[*file.base].place + ")";
}

std::string NameOf(const Comparison& comparison, const FunctionChange& function) {
  if (!function.now) return comparison.base.functions[*function.base].name;
  const RunFunction& now = comparison.now.functions[*function.now];
  if (!function.base) return now.name;
  const RunFunction& base = comparison.base.functions[*function.base];
  if (base.name != now.name) return now.name + " (was " + base.name + ")";
  if (comparison.matching.file[now.file] != base.file)
    return now.name + " (was in " + comparison.base.files[base.file].place + ")";
  return now.name;
}

std::string TextOf(const Comparison& comparison, const LineChange& line) {
  const RunFile& file =
      line.now_file ? comparison.now.files[*line.now_file] : comparison.base.files[*line.base_file];
  const uint32_t number = line.now_file ? line.now_line : line.base_line;
  if (number == 0 || number > file.text.size()) return "";
  const std::string& text = file.text[number - 1];
  return text.substr(std::min(text.find_first_not_of(" \t\f"), text.size()));
}

std::string HistoryOf(const Comparison& comparison, const LineChange& line) {
  if (!line.now_file) return "gone";
  if (!line.base_file) return "new";
  const std::string& place = comparison.base.files[*line.base_file].place;
  if (line.kind == MatchKind::kEdited) return fmt::format("edited, was line {}", line.base_line);
  if (line.kind != MatchKind::kMoved) return "";
  return comparison.matching.file[*line.now_file] == line.base_file
             ? fmt::format("moved, was line {}", line.base_line)
             : fmt::format("moved, was {}:{}", place, line.base_line);
}

std::string ScaleText(const Comparison& comparison) {
  if (!comparison.scaled)
    return "times of both runs as they were measured, whatever the number of samples";
  return fmt::format(
      "a run that was attached to, or cut off, is a part of its program's life: times of the new "
      "one are scaled by {:.4g} to the length of the base ({} of {})",
      comparison.scale, FormatDuration(comparison.now.elapsed_ns.value_or(0)),
      FormatDuration(comparison.base.elapsed_ns.value_or(0)));
}

std::string FormatDelta(int64_t ns) {
  if (ns == 0) return "0 ns";
  return (ns > 0 ? "+" : "−") + FormatDuration(ns > 0 ? ns : -ns);
}

std::string FormatRelative(const Change& change) {
  if (change.base.samples == 0) return "new";
  if (change.now.samples == 0) return "gone";
  const auto relative = change.relative();
  if (!relative) return "–";
  const double percent = 100 * *relative;
  if (std::abs(percent) < 0.05) return "0.0%";
  return fmt::format("{}{:.1f}%", percent > 0 ? "+" : "−", std::abs(percent));
}

}  // namespace linescope
