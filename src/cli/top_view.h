#pragma once
// What the user looks at, and what the keys do to it. Neither reads keys nor draws.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top_rank.h"

namespace linescope {

struct TopKey {
  enum class Kind : uint8_t {
    kCharacter,
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kEscape,
    kBackspace,
    kTab,
    kBackTab,
    kRedraw,  // Ctrl-L
  } kind = Kind::kCharacter;
  std::string text = {};  // kCharacter: it, as UTF-8
};

enum class TopTab : uint8_t { kLines, kFunctions, kThreads, kProcesses, kOutput };
inline constexpr size_t kTopTabCount = 5;

// What a key asks of others than the view.
enum class TopAction : uint8_t { kNone, kQuit, kReset, kPause, kRedraw };

class TopView {
 public:
  struct Options {
    TopTable table = TopTable::kLines;
    TopSort sort = TopSort::kTime;
    Weight weight = Weight::kWall;
    bool all_code = false;
    bool has_output = false;  // of a launched program
  };
  explicit TopView(const Options& options);

  TopAction OnKey(const TopKey& key);

  [[nodiscard]] TopTab tab() const { return tab_; }
  [[nodiscard]] bool help() const { return help_; }
  [[nodiscard]] bool output_pane() const { return output_pane_; }
  [[nodiscard]] bool has_output() const { return options_.has_output; }
  // The details of the selected row are open.
  [[nodiscard]] std::optional<uint32_t> opened() const { return opened_; }
  // The text that is being typed; unset when none is.
  [[nodiscard]] const std::optional<std::string>& typing() const { return typing_; }
  [[nodiscard]] bool paused() const { return paused_; }
  // Of the table of the tab.
  [[nodiscard]] TopQuery Query() const;
  [[nodiscard]] Weight weight() const { return weight_; }
  [[nodiscard]] TopSpan span() const { return span_; }

  // Ranks and keeps the cursor on what is selected. `height` rows fit.
  TopPage Page(const TopModel& model, size_t height);
  // Where the cursor is on the page, after Page.
  [[nodiscard]] size_t cursor() const { return Cursor().at; }
  // First row of `rows` lines of text of which `height` fit: help, details, output.
  size_t ScrollText(size_t rows, size_t height);

 private:
  struct TableCursor {
    size_t at = 0, first = 0;
    // The row that the cursor stays on; unset: at the top, whatever is there.
    std::optional<uint32_t> row;
  };
  [[nodiscard]] const TableCursor& Cursor() const { return cursors_[static_cast<size_t>(tab_)]; }
  TableCursor& Cursor() { return cursors_[static_cast<size_t>(tab_)]; }
  TopAction OnCharacter(const std::string& text);
  void Type(const TopKey& key);
  bool OnTextKey(const TopKey& key);
  void OnTableKey(const TopKey& key);
  void SwitchTab(int step);
  void Move(ptrdiff_t step);
  void Leave();

  Options options_;
  TopTab tab_;
  TopSpan span_ = TopSpan::kAll;
  Weight weight_;
  TopSort sort_;
  bool reversed_ = false, all_code_;
  std::string filter_;
  std::optional<std::string> typing_;
  bool help_ = false, paused_ = false, output_pane_ = true;
  std::optional<uint32_t> opened_;
  std::array<TableCursor, kTopTabCount> cursors_;
  std::vector<uint32_t> page_rows_;  // as Page returned them
  size_t page_first_ = 0, page_count_ = 0, page_height_ = 0;
  // Of help and details; of the output counted from its end.
  size_t scroll_ = 0, output_scroll_ = 0, text_height_ = 0, text_rows_ = 0;
};

}  // namespace linescope
