#include "cli/top_rank.h"

#include <algorithm>
#include <compare>
#include <string_view>
#include <tuple>

namespace linescope {
namespace {

char Folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How to look at the rows of one table. `Place` is a tuple that no two rows share.
struct Lines {
  const TopModel& model;
  [[nodiscard]] size_t size() const { return model.lines().size(); }
  [[nodiscard]] const auto& At(uint32_t row) const { return model.lines()[row]; }
  [[nodiscard]] bool Shown(uint32_t row, const TopQuery& query) const {
    return query.all_code || At(row).in_project;
  }
  [[nodiscard]] bool Matches(uint32_t row, std::string_view filter) const {
    const auto& function = model.functions()[At(row).function];
    return ContainsFolded(model.files()[function.file], filter) ||
           ContainsFolded(function.qualified_name, filter);
  }
  [[nodiscard]] auto Place(uint32_t row) const {
    return std::tuple<std::string_view, int64_t, std::string_view, uint32_t>(model.file_of(At(row)),
                                                                             At(row).line, "", row);
  }
};

struct Functions {
  const TopModel& model;
  [[nodiscard]] size_t size() const { return model.functions().size(); }
  [[nodiscard]] const auto& At(uint32_t row) const { return model.functions()[row]; }
  [[nodiscard]] bool Shown(uint32_t row, const TopQuery& query) const {
    return query.all_code || At(row).in_project;
  }
  [[nodiscard]] bool Matches(uint32_t row, std::string_view filter) const {
    return ContainsFolded(model.files()[At(row).file], filter) ||
           ContainsFolded(At(row).qualified_name, filter);
  }
  [[nodiscard]] auto Place(uint32_t row) const {
    return std::tuple<std::string_view, int64_t, std::string_view, uint32_t>(
        At(row).qualified_name, At(row).first_line, model.files()[At(row).file], row);
  }
};

struct Threads {
  const TopModel& model;
  [[nodiscard]] size_t size() const { return model.threads().size(); }
  [[nodiscard]] const auto& At(uint32_t row) const { return model.threads()[row]; }
  [[nodiscard]] bool Shown(uint32_t, const TopQuery&) const { return true; }
  [[nodiscard]] bool Lives(uint32_t row) const { return !At(row).ended; }
  [[nodiscard]] bool Matches(uint32_t row, std::string_view filter) const {
    return ContainsFolded(At(row).name, filter) ||
           ContainsFolded(std::to_string(At(row).tid), filter);
  }
  [[nodiscard]] auto Place(uint32_t row) const {
    return std::tuple<std::string_view, int64_t, std::string_view, uint32_t>(At(row).name,
                                                                             At(row).tid, "", row);
  }
};

struct Processes {
  const TopModel& model;
  [[nodiscard]] size_t size() const { return model.processes().size(); }
  [[nodiscard]] const auto& At(uint32_t row) const { return model.processes()[row]; }
  [[nodiscard]] bool Shown(uint32_t, const TopQuery&) const { return true; }
  [[nodiscard]] bool Lives(uint32_t row) const { return !At(row).ended_ns; }
  [[nodiscard]] bool Matches(uint32_t row, std::string_view filter) const {
    return std::ranges::any_of(
               At(row).command,
               [&](const std::string& word) { return ContainsFolded(word, filter); }) ||
           ContainsFolded(std::to_string(At(row).pid), filter);
  }
  [[nodiscard]] auto Place(uint32_t row) const {
    return std::tuple<std::string_view, int64_t, std::string_view, uint32_t>("", At(row).pid, "",
                                                                             row);
  }
};

int64_t Figure(const TopModel::Costs& costs, const TopQuery& query) {
  switch (query.sort) {
    case TopSort::kTime:
      return costs.project.Time(query.weight);
    case TopSort::kSelf:
      return costs.self.Time(query.weight);
    case TopSort::kTotal:
      return costs.total.Time(query.weight);
    case TopSort::kName:
      break;
  }
  return 0;
}

template <class Table>
TopPage Rank(const Table& table, const TopQuery& query, std::optional<uint32_t> selected,
             size_t cursor, size_t first, size_t height) {
  TopPage page;
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < table.size(); ++row) {
    if (!table.Shown(row, query)) continue;
    bool lives = false;
    if constexpr (requires { table.Lives(row); }) lives = table.Lives(row);
    const Cost& total = table.At(row).tally.Of(query.span).total;
    if (!lives && total.Time(query.weight) <= 0) continue;
    if (!query.filter.empty() && !table.Matches(row, query.filter)) continue;
    rows.push_back(row);
  }
  page.count = rows.size();
  const auto before = [&](uint32_t a, uint32_t b) {
    const int64_t left = Figure(table.At(a).tally.Of(query.span), query);
    const int64_t right = Figure(table.At(b).tally.Of(query.span), query);
    if (left != right) return query.reversed ? left < right : left > right;
    return query.sort == TopSort::kName && query.reversed ? table.Place(b) < table.Place(a)
                                                          : table.Place(a) < table.Place(b);
  };
  if (selected && std::ranges::find(rows, *selected) != rows.end()) {
    page.selected_at = static_cast<size_t>(
        std::ranges::count_if(rows, [&](uint32_t row) { return before(row, *selected); }));
    cursor = *page.selected_at;
  }
  if (rows.empty() || height == 0) return page;
  cursor = std::min(cursor, rows.size() - 1);
  if (cursor < first) first = cursor;
  if (cursor >= first + height) first = cursor - height + 1;
  first = std::min(first, rows.size() > height ? rows.size() - height : 0);
  const size_t end = std::min(first + height, rows.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<ptrdiff_t>(end), before);
  page.first = first;
  page.rows.assign(rows.begin() + static_cast<ptrdiff_t>(first),
                   rows.begin() + static_cast<ptrdiff_t>(end));
  return page;
}

}  // namespace

bool ContainsFolded(std::string_view text, std::string_view needle) {
  return !std::ranges::search(text, needle, {}, Folded, Folded).empty() || needle.empty();
}

TopPage RankPage(const TopModel& model, const TopQuery& asked, std::optional<uint32_t> selected,
                 size_t cursor, size_t first, size_t height) {
  TopQuery query = asked;
  if (query.table == TopTable::kThreads || query.table == TopTable::kProcesses) {
    // All of them have the same wall time, give or take a tick: the order would never rest.
    query.weight = Weight::kCpu;
    if (query.sort != TopSort::kName) query.sort = TopSort::kTotal;
  }
  switch (query.table) {
    case TopTable::kLines:
      return Rank(Lines{model}, query, selected, cursor, first, height);
    case TopTable::kFunctions:
      return Rank(Functions{model}, query, selected, cursor, first, height);
    case TopTable::kThreads:
      return Rank(Threads{model}, query, selected, cursor, first, height);
    case TopTable::kProcesses:
      break;
  }
  return Rank(Processes{model}, query, selected, cursor, first, height);
}

}  // namespace linescope
