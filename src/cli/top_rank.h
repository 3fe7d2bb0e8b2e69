#pragma once
// Which rows of a live model are shown, and in which order.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top_model.h"

namespace linescope {

enum class TopTable : uint8_t { kLines, kFunctions, kThreads, kProcesses };
enum class TopSort : uint8_t { kTime, kSelf, kTotal, kName };
inline constexpr size_t kTopSortCount = 4;

struct TopQuery {
  TopTable table = TopTable::kLines;
  TopSpan span = TopSpan::kAll;
  Weight weight = Weight::kWall;
  TopSort sort = TopSort::kTime;
  bool reversed = false;
  bool all_code = false;    // lines and functions that are not the project's, too
  std::string filter = {};  // in the name or the place, whatever the case; empty: everything
};

// A page of the ranking.
struct TopPage {
  std::vector<uint32_t> rows;  // indices into the model's table
  size_t first = 0;            // the place of rows[0]
  size_t count = 0;            // of rows in the whole ranking
  // The place of `selected` in the ranking; none when it is not in it.
  std::optional<size_t> selected_at;
};

// Rows without time in the span are left out, but for threads and processes that live. Equal rows
// are ordered by name, so that a table that is drawn again keeps its order. Threads and processes
// are ranked by their CPU time. The page holds
// `height` rows and the place `around`; it is `first` where that suffices. Costs n + p log p for n
// rows, p of them up to the page's end.
TopPage RankPage(const TopModel& model, const TopQuery& query, std::optional<uint32_t> selected,
                 size_t cursor, size_t first, size_t height);

// `text` has `needle`, whatever the case of ASCII letters.
bool ContainsFolded(std::string_view text, std::string_view needle);

}  // namespace linescope
