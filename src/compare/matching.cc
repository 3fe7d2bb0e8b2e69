#include "compare/matching.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "compare/line_diff.h"

namespace linescope {
namespace {

// Letters and digits that a block must have in all to be taken for moved, and that a line must have
// which occurs once in each version.
constexpr uint64_t kBlockLetters = 40, kLineLetters = 8;
// And one whose text is left once on each side.
constexpr uint64_t kLeftLetters = 3;
// Part of the lines of the smaller file, and of a function, that must be found again for the two to
// be the same under another name.
constexpr double kFileLikeness = 0.5, kFunctionLikeness = 0.5;
// Letters in common, of all, from which on a line is the other one edited.
constexpr double kLineLikeness = 0.5;
// Lines of a gap on one side beyond which edited lines are not looked for.
constexpr size_t kWidestGap = 200;
constexpr size_t kLongestLine = 400;

// White space at the end says nothing.
std::string_view Trimmed(std::string_view line) {
  const size_t end = line.find_last_not_of(" \t\r\f");
  return line.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

uint32_t CountLetters(std::string_view line) {
  return static_cast<uint32_t>(std::ranges::count_if(line, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80;
  }));
}

// Texts of lines as numbers.
class Numbers {
 public:
  uint32_t Of(std::string_view line) {
    const std::string_view trimmed = Trimmed(line);
    const auto [at, fresh] = known_.try_emplace(std::string(trimmed), next_);
    if (fresh) {
      ++next_;
      letters_.push_back(CountLetters(trimmed));
    }
    return at->second;
  }
  std::vector<uint32_t> Of(const std::vector<std::string>& lines) {
    std::vector<uint32_t> numbers;
    numbers.reserve(lines.size());
    for (const std::string& line : lines) numbers.push_back(Of(line));
    return numbers;
  }
  [[nodiscard]] const std::vector<uint32_t>& letters() const { return letters_; }
  // A number that no text has.
  uint32_t Separator() {
    letters_.push_back(0);
    return next_++;
  }

 private:
  std::unordered_map<std::string, uint32_t> known_;
  std::vector<uint32_t> letters_;
  uint32_t next_ = 0;
};

// The definitions that hold each line of a file, innermost last in `definitions`; -1: none.
std::vector<int32_t> InnermostDefinitions(const RunFile& file) {
  std::vector<int32_t> inner(file.text.size() + 1, -1);
  std::vector<size_t> order(file.definitions.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Outer ones first: what lies within overwrites.
  std::ranges::stable_sort(order, {}, [&](size_t i) {
    const RunDefinition& definition = file.definitions[i];
    return std::tuple(definition.first, -static_cast<int64_t>(definition.last));
  });
  for (const size_t i : order) {
    const RunDefinition& definition = file.definitions[i];
    const size_t last = std::min<size_t>(definition.last, file.text.size());
    for (size_t line = definition.first; line <= last; ++line)
      inner[line] = static_cast<int32_t>(i);
  }
  return inner;
}

// Part of the letters of two lines that they have in common, in order.
double Likeness(std::string_view a, std::string_view b) {
  const auto strip = [](std::string_view line) {
    line = Trimmed(line);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line.substr(0, kLongestLine);
  };
  a = strip(a);
  b = strip(b);
  if (a.empty() || b.empty()) return 0;
  std::vector<uint32_t> before(b.size() + 1), row(b.size() + 1);
  for (const char c : a) {
    for (size_t j = 0; j < b.size(); ++j)
      row[j + 1] = c == b[j] ? before[j] + 1 : std::max(before[j + 1], row[j]);
    std::swap(before, row);
  }
  return 2.0 * before[b.size()] / static_cast<double>(a.size() + b.size());
}

class Matcher {
 public:
  Matcher(const RunData& base, const RunData& now) : base_(base), now_(now) {
    for (const RunFile& file : base.files) base_text_.push_back(numbers_.Of(file.text));
    for (const RunFile& file : now.files) now_text_.push_back(numbers_.Of(file.text));
    for (const RunFile& file : base.files) base_inner_.push_back(InnermostDefinitions(file));
    for (const RunFile& file : now.files) now_inner_.push_back(InnermostDefinitions(file));
    for (const auto& text : base_text_) base_taken_.emplace_back(text.size());
    for (const auto& text : now_text_) out_.line.emplace_back(text.size());
  }

  Matching Run() && {
    MatchFiles();
    for (uint32_t file = 0; file < now_.files.size(); ++file) {
      if (out_.file[file]) MatchText(*out_.file[file], file);
    }
    for (uint32_t file = 0; file < now_.files.size(); ++file) {
      if (out_.file[file]) MatchDefinitions(*out_.file[file], file);
    }
    MatchMoved();
    for (uint32_t file = 0; file < now_.files.size(); ++file) {
      if (out_.file[file]) MatchLeft(*out_.file[file], file);
    }
    for (uint32_t file = 0; file < now_.files.size(); ++file) {
      if (out_.file[file]) MatchEdited(*out_.file[file], file);
    }
    MatchFunctions();
    return std::move(out_);
  }

 private:
  void MatchFiles() {
    out_.file.resize(now_.files.size());
    std::vector<bool> taken(base_.files.size());
    const auto pair_up = [&](uint32_t base, uint32_t now) {
      if (taken[base] || out_.file[now]) return;
      taken[base] = true;
      out_.file[now] = base;
    };
    std::map<std::string_view, uint32_t> by_place;
    for (uint32_t i = 0; i < base_.files.size(); ++i) by_place.emplace(base_.files[i].place, i);
    for (uint32_t i = 0; i < now_.files.size(); ++i) {
      const auto found = by_place.find(now_.files[i].place);
      if (found != by_place.end()) pair_up(found->second, i);
    }
    // The rest by what they say: most in common first.
    std::vector<std::tuple<double, uint32_t, uint32_t>> alike;
    for (uint32_t now = 0; now < now_.files.size(); ++now) {
      if (out_.file[now]) continue;
      for (uint32_t base = 0; base < base_.files.size(); ++base) {
        const auto [small, large] = std::minmax({base_text_[base].size(), now_text_[now].size()});
        if (taken[base] ||
            static_cast<double>(small) < kFileLikeness / 2 * static_cast<double>(large))
          continue;
        const double likeness = FileLikeness(base, now);
        if (likeness >= kFileLikeness) alike.emplace_back(-likeness, base, now);
      }
    }
    std::ranges::sort(alike);
    for (const auto& [likeness, base, now] : alike) pair_up(base, now);
    // A script alone on each side is the same program under another name.
    if (base_.files.size() == 1 && now_.files.size() == 1) pair_up(0, 0);
  }

  [[nodiscard]] double FileLikeness(uint32_t base, uint32_t now) const {
    std::map<uint32_t, int64_t> lines;
    uint64_t all_base = 0, all_now = 0, common = 0;
    for (const uint32_t number : base_text_[base]) {
      if (numbers_.letters()[number] == 0) continue;
      ++all_base;
      ++lines[number];
    }
    for (const uint32_t number : now_text_[now]) {
      if (numbers_.letters()[number] == 0) continue;
      ++all_now;
      if (lines[number]-- > 0) ++common;
    }
    const uint64_t all = std::max(all_base, all_now);
    return all == 0 ? 0 : static_cast<double>(common) / static_cast<double>(all);
  }

  void Pair(uint32_t base_file, uint32_t base_line, uint32_t file, uint32_t line, MatchKind kind) {
    base_taken_[base_file][base_line] = true;
    out_.line[file][line] = {kind, base_file, base_line + 1};
  }
  [[nodiscard]] bool Free(uint32_t file, uint32_t line) const {
    return out_.line[file][line].kind == MatchKind::kNone;
  }

  [[nodiscard]] const std::string* DefinitionName(const RunFile& file,
                                                  const std::vector<int32_t>& inner,
                                                  uint32_t line) const {
    const int32_t definition = line + 1 < inner.size() ? inner[line + 1] : -1;
    return definition < 0 ? nullptr : &file.definitions[static_cast<size_t>(definition)].name;
  }

  void MatchText(uint32_t base, uint32_t now) {
    // A line that stands in many places must not be taken from a function that is still there.
    const auto names_of = [](const RunFile& file) {
      std::set<std::string_view> names;
      for (const RunDefinition& definition : file.definitions) names.insert(definition.name);
      return names;
    };
    const auto base_names = names_of(base_.files[base]), now_names = names_of(now_.files[now]);
    for (const auto& [x, y] : CommonLines(base_text_[base], now_text_[now])) {
      const std::string* from = DefinitionName(base_.files[base], base_inner_[base], x);
      const std::string* to = DefinitionName(now_.files[now], now_inner_[now], y);
      const bool same = from == nullptr || to == nullptr ? from == to : *from == *to;
      const bool from_stays = from == nullptr || now_names.contains(*from);
      const bool to_was_there = to == nullptr || base_names.contains(*to);
      if (!same && from_stays && to_was_there) continue;
      Pair(base, x, now, y, MatchKind::kSame);
    }
  }

  // What is left of functions that both versions have.
  void MatchDefinitions(uint32_t base, uint32_t now) {
    const auto lines_of = [](const std::vector<int32_t>& inner, const RunFile& file) {
      std::map<std::string_view, std::vector<uint32_t>> lines;  // "": outside of all
      for (uint32_t line = 1; line < inner.size(); ++line) {
        std::string_view name;
        if (inner[line] >= 0) name = file.definitions[static_cast<size_t>(inner[line])].name;
        lines[name].push_back(line - 1);
      }
      return lines;
    };
    const auto before = lines_of(base_inner_[base], base_.files[base]);
    for (auto [name, now_lines] : lines_of(now_inner_[now], now_.files[now])) {
      const auto found = before.find(name);
      if (found == before.end()) continue;
      std::vector<uint32_t> base_lines = found->second;
      std::erase_if(base_lines, [&](uint32_t line) { return base_taken_[base][line]; });
      std::erase_if(now_lines, [&](uint32_t line) { return !Free(now, line); });
      std::vector<uint32_t> from, to;
      for (const uint32_t line : base_lines) from.push_back(base_text_[base][line]);
      for (const uint32_t line : now_lines) to.push_back(now_text_[now][line]);
      for (const auto& [x, y] : CommonLines(from, to))
        Pair(base, base_lines[x], now, now_lines[y], MatchKind::kMoved);
    }
  }

  // Blocks that went to another place, or to another file.
  void MatchMoved() {
    std::vector<uint32_t> from, to;
    std::vector<bool> from_taken, to_taken;
    std::vector<std::pair<uint32_t, uint32_t>> from_place, to_place;  // file, line
    const auto separate = [this](auto& text, auto& taken, auto& place) {
      text.push_back(numbers_.Separator());
      taken.push_back(true);
      place.emplace_back(0, 0);
    };
    for (uint32_t file = 0; file < base_text_.size(); ++file) {
      for (uint32_t line = 0; line < base_text_[file].size(); ++line) {
        from.push_back(base_text_[file][line]);
        from_taken.push_back(base_taken_[file][line]);
        from_place.emplace_back(file, line);
      }
      separate(from, from_taken, from_place);
    }
    for (uint32_t file = 0; file < now_text_.size(); ++file) {
      for (uint32_t line = 0; line < now_text_[file].size(); ++line) {
        to.push_back(now_text_[file][line]);
        to_taken.push_back(!Free(file, line));
        to_place.emplace_back(file, line);
      }
      separate(to, to_taken, to_place);
    }
    const MoveOptions options = {
        .weight = numbers_.letters(), .least = kBlockLetters, .once = kLineLetters};
    for (const LineRun& run : MovedRuns(from, to, from_taken, to_taken, options)) {
      for (uint32_t i = 0; i < run.length; ++i) {
        const auto& [base_file, base_line] = from_place[run.base + i];
        const auto& [file, line] = to_place[run.now + i];
        Pair(base_file, base_line, file, line, MatchKind::kMoved);
      }
    }
  }

  // Single lines that are left: beside one whose counterpart has the same line beside it, and those
  // whose text is left once on each side.
  void MatchLeft(uint32_t base, uint32_t now) {
    auto& lines = out_.line[now];
    const auto beside = [&](uint32_t line, uint32_t neighbour, int64_t step) {
      const BaseLine& match = lines[neighbour];
      if (!Free(now, line) || match.kind == MatchKind::kNone || match.kind == MatchKind::kEdited)
        return;
      const int64_t at = int64_t{match.line} - 1 + step;
      if (at < 0 || at >= std::ssize(base_text_[match.file])) return;
      const auto from = static_cast<uint32_t>(at);
      if (!base_taken_[match.file][from] && base_text_[match.file][from] == now_text_[now][line])
        Pair(match.file, from, now, line, MatchKind::kMoved);
    };
    const auto size = static_cast<uint32_t>(lines.size());
    for (uint32_t line = 1; line < size; ++line) beside(line, line - 1, 1);
    for (uint32_t line = size; line-- > 1;) beside(line - 1, line, -1);

    struct Left {
      uint32_t in_base = 0, in_now = 0, base_line = 0, now_line = 0;
    };
    std::map<uint32_t, Left> left;
    for (uint32_t line = 0; line < base_text_[base].size(); ++line) {
      if (base_taken_[base][line]) continue;
      Left& entry = left[base_text_[base][line]];
      ++entry.in_base;
      entry.base_line = line;
    }
    for (uint32_t line = 0; line < size; ++line) {
      if (!Free(now, line)) continue;
      Left& entry = left[now_text_[now][line]];
      ++entry.in_now;
      entry.now_line = line;
    }
    for (const auto& [number, entry] : left) {
      if (entry.in_base == 1 && entry.in_now == 1 && numbers_.letters()[number] >= kLeftLetters)
        Pair(base, entry.base_line, now, entry.now_line, MatchKind::kMoved);
    }
  }

  // Lines without a counterpart between two neighbours that have one, on both sides.
  void MatchEdited(uint32_t base, uint32_t now) {
    const uint32_t base_size = static_cast<uint32_t>(base_text_[base].size());
    const uint32_t now_size = static_cast<uint32_t>(now_text_[now].size());
    const auto base_of = [&](uint32_t line) -> std::optional<uint32_t> {
      const BaseLine& match = out_.line[now][line];
      if (match.kind == MatchKind::kNone || match.file != base) return std::nullopt;
      return match.line - 1;
    };
    for (uint32_t line = 0; line < now_size;) {
      if (!Free(now, line)) {
        ++line;
        continue;
      }
      uint32_t end = line;
      while (end < now_size && Free(now, end)) ++end;
      // The gap in the base: behind the line before, else before the line behind.
      std::optional<uint32_t> first, last;
      if (line == 0) {
        first = 0;
      } else if (const auto before = base_of(line - 1)) {
        first = *before + 1;
      }
      if (end == now_size) {
        last = base_size;
      } else if (const auto behind = base_of(end)) {
        last = *behind;
      }
      // Where the neighbours went different ways, either of the two gaps may be it.
      if (first) {
        uint32_t stop = *first;
        while (stop < base_size && !base_taken_[base][stop]) ++stop;
        AlignEdited(base, *first, stop, now, line, end);
      }
      uint32_t rest = end;
      while (rest > line && Free(now, rest - 1)) --rest;
      if (last && rest < end) {
        uint32_t start = *last;
        while (start > 0 && !base_taken_[base][start - 1]) --start;
        AlignEdited(base, start, *last, now, rest, end);
      }
      line = end;
    }
  }

  // Pairs lines of two gaps in order so that their likeness is the most in all.
  void AlignEdited(uint32_t base, uint32_t base_first, uint32_t base_end, uint32_t now,
                   uint32_t now_first, uint32_t now_end) {
    const size_t n = base_end - base_first, m = now_end - now_first;
    if (n == 0 || m == 0 || n > kWidestGap || m > kWidestGap) return;
    std::vector<std::vector<double>> best(n + 1, std::vector<double>(m + 1));
    std::vector<std::vector<double>> like(n, std::vector<double>(m));
    for (size_t i = n; i-- > 0;) {
      for (size_t j = m; j-- > 0;) {
        const double likeness =
            Likeness(base_.files[base].text[base_first + i], now_.files[now].text[now_first + j]);
        like[i][j] = likeness >= kLineLikeness ? likeness : 0;
        best[i][j] = std::max(
            {best[i + 1][j], best[i][j + 1], like[i][j] > 0 ? best[i + 1][j + 1] + like[i][j] : 0});
      }
    }
    for (size_t i = 0, j = 0; i < n && j < m;) {
      if (like[i][j] > 0 && best[i][j] == best[i + 1][j + 1] + like[i][j]) {
        Pair(base, base_first + static_cast<uint32_t>(i), now, now_first + static_cast<uint32_t>(j),
             MatchKind::kEdited);
        ++i, ++j;
      } else if (best[i][j] == best[i + 1][j]) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  void MatchFunctions() {
    out_.function.resize(now_.functions.size());
    std::vector<bool> taken(base_.functions.size());
    const auto pair_up = [&](uint32_t base, uint32_t now) {
      if (taken[base] || out_.function[now]) return false;
      taken[base] = true;
      out_.function[now] = base;
      return true;
    };
    // Of one name in one file: first those whose first lines are the same, then by their order.
    std::map<std::pair<uint32_t, std::string_view>, std::vector<uint32_t>> by_name;
    for (uint32_t i = 0; i < base_.functions.size(); ++i)
      by_name[{base_.functions[i].file, base_.functions[i].name}].push_back(i);
    const auto namesakes = [&](uint32_t now) -> const std::vector<uint32_t>* {
      const RunFunction& function = now_.functions[now];
      if (!out_.file[function.file]) return nullptr;
      const auto found = by_name.find({*out_.file[function.file], function.name});
      return found == by_name.end() ? nullptr : &found->second;
    };
    for (uint32_t now = 0; now < now_.functions.size(); ++now) {
      const std::vector<uint32_t>* same = namesakes(now);
      const auto line = BaseOf(now_.functions[now].file, now_.functions[now].line);
      if (same == nullptr || !line) continue;
      for (const uint32_t base : *same) {
        if (base_.functions[base].file == line->file && base_.functions[base].line == line->line)
          pair_up(base, now);
      }
    }
    for (uint32_t now = 0; now < now_.functions.size(); ++now) {
      const std::vector<uint32_t>* same = namesakes(now);
      if (same == nullptr) continue;
      for (const uint32_t base : *same) {
        if (pair_up(base, now)) break;
      }
    }
    // Moved to another file: of a name that is left once on each side.
    std::map<std::string_view, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> left;
    for (uint32_t i = 0; i < base_.functions.size(); ++i) {
      if (!taken[i]) left[base_.functions[i].name].first.push_back(i);
    }
    for (uint32_t i = 0; i < now_.functions.size(); ++i) {
      if (!out_.function[i]) left[now_.functions[i].name].second.push_back(i);
    }
    for (const auto& [name, sides] : left) {
      if (name.starts_with('<')) continue;  // <module>, <lambda>: names of many
      if (sides.first.size() == 1 && sides.second.size() == 1)
        pair_up(sides.first[0], sides.second[0]);
    }
    // Renamed: most lines of the one are lines of the other.
    std::vector<std::vector<uint32_t>> free(base_.files.size());
    for (uint32_t i = 0; i < base_.functions.size(); ++i) {
      if (!taken[i] && base_.functions[i].last > 0) free[base_.functions[i].file].push_back(i);
    }
    for (uint32_t now = 0; now < now_.functions.size(); ++now) {
      if (out_.function[now]) continue;
      if (const auto base = RenamedFrom(now, free, taken)) pair_up(*base, now);
    }
  }

  [[nodiscard]] std::optional<BaseLine> BaseOf(uint32_t file, uint32_t line) const {
    if (line == 0 || line > out_.line[file].size()) return std::nullopt;
    const BaseLine& match = out_.line[file][line - 1];
    if (match.kind == MatchKind::kNone) return std::nullopt;
    return match;
  }

  // `free`: by file of the base, functions that may be it.
  [[nodiscard]] std::optional<uint32_t> RenamedFrom(uint32_t now,
                                                    const std::vector<std::vector<uint32_t>>& free,
                                                    const std::vector<bool>& taken) const {
    const RunFunction& function = now_.functions[now];
    std::map<uint32_t, uint32_t> votes;
    uint32_t lines = 0;
    for (uint32_t line = function.line; line <= function.last; ++line) {
      if (line == 0 || line > now_text_[function.file].size() ||
          numbers_.letters()[now_text_[function.file][line - 1]] == 0)
        continue;
      ++lines;
      const auto match = BaseOf(function.file, line);
      if (!match) continue;
      for (const uint32_t base : free[match->file]) {
        const RunFunction& other = base_.functions[base];
        if (!taken[base] && other.line <= match->line && match->line <= other.last) ++votes[base];
      }
    }
    std::optional<uint32_t> best;
    for (const auto& [base, count] : votes) {
      if (count > kFunctionLikeness * lines && (!best || count > votes[*best])) best = base;
    }
    return best;
  }

  const RunData& base_;
  const RunData& now_;
  Numbers numbers_;
  std::vector<std::vector<uint32_t>> base_text_, now_text_;   // by file: numbers of its lines
  std::vector<std::vector<int32_t>> base_inner_, now_inner_;  // by file and line (from 1)
  std::vector<std::vector<bool>> base_taken_;
  Matching out_;
};

}  // namespace

Matching Match(const RunData& base, const RunData& now) { return Matcher(base, now).Run(); }

}  // namespace linescope
